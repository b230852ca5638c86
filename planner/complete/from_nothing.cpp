#include "planner/complete/from_nothing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <future>
#include <optional>

#include "engine/base/format.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "planner/evaluate/evaluate.h"
#include "planner/simulate/alive.h"

namespace planscope {

namespace {

struct Checked {
  Result<Evaluation> found;
  std::optional<Diagnostic> wrong;
};

// Those that may be handed out, with what becomes of the first; of the others, why not.
std::vector<stages::Candidate> handed_out(const Graph& graph, const Cluster& cluster,
                                          std::vector<stages::Candidate> found, const SimulationOptions& options,
                                          std::optional<Evaluation>& first,
                                          std::vector<Diagnostic>& why_not) {
  MaterializeCache cache;
  std::vector<std::future<Checked>> checks;
  for (const stages::Candidate& c : found)
    checks.push_back(std::async(std::launch::async, [&] {
      const Result<plan::Plan> plan = plan::parse_plan(c.script, "");
      if (!plan.ok()) return Checked{plan.diagnostics, {}};
      Checked out{evaluate(graph, *plan, cluster, cache, options), {}};
      if (out.found.ok()) out.wrong = not_to_hand_out(out.found->made);
      return out;
    }));
  std::vector<stages::Candidate> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Checked checked = checks[i].get();
    if (!checked.found.ok()) checked.wrong = checked.found.diagnostics.front();
    if (checked.wrong) {
      checked.wrong->severity = Severity::warning;
      if (std::find(why_not.begin(), why_not.end(), *checked.wrong) == why_not.end())
        why_not.push_back(std::move(*checked.wrong));
      continue;
    }
    if (out.empty()) first = std::move(*checked.found.value);
    out.push_back(std::move(found[i]));
  }
  return out;
}

// Rows for memory, where an operator has no rule for its own: nobody knows whether the plan keeps them.
std::vector<Diagnostic> unknown_rows(const Graph& graph, const std::vector<plan::Plan>& rows) {
  std::vector<Diagnostic> out;
  const std::string why = unknown_memory(graph);
  if (why.empty()) return out;
  for (const plan::Plan& p : rows)
    for (const plan::Statement& s : p.statements) {
      const auto* row = std::get_if<plan::RequireStatement>(&s.body);
      bool of_memory = false;
      if (row)
        plan::for_each(row->condition, [&](const plan::Expression& e) {
          of_memory = of_memory || (e.kind == plan::Expression::Kind::call && e.text == "memory");
        });
      if (!of_memory) continue;
      Diagnostic d = warning("whether the plan keeps the row is not known: predicted peaks are at least what is needed", why,
                             "'planscope run' measures it");
      d.file = p.file, d.line = s.line, d.subject = plan::print(s);
      out.push_back(std::move(d));
    }
  return out;
}

}  // namespace

Result<Completion> from_nothing(const Graph& graph, const std::vector<plan::Plan>& rows, const Cluster& cluster,
                                const CompletionSettings& settings, const std::atomic<bool>& stop) {
  const StopScope never({});  // the search looks at the flag itself, and has an answer then
  stages::Settings s;
  s.global_batch = settings.global_batch;
  s.seconds = settings.time_limit_s;
  s.templates = settings.templates;
  s.rows = rows;
  s.simulation.costs = settings.costs;
  s.stop = &stop;
  s.progress = settings.progress;
  Result<stages::Found> found = stages::search(graph, cluster, s);
  Result<Completion> out;
  out.diagnostics = found.diagnostics;
  if (!found.value || found.has_errors()) return out;
  Completion c;
  const bool some = !found->best.empty();
  std::optional<Evaluation> first;
  c.candidates = handed_out(graph, cluster, std::move(found->best), s.simulation, first, out.diagnostics);
  c.reason = found->reason;
  c.conflicts = std::move(found->conflicts);
  c.all_conflicts = found->all_conflicts;
  if (found->outcome != stages::Outcome::impossible && found->lower_bound_us > 0 &&
      std::isfinite(found->lower_bound_us))
    c.lower_bound_us = found->lower_bound_us;
  if (found->outcome == stages::Outcome::impossible) {
    c.status = CompletionStatus::impossible;
  } else if (!c.candidates.empty()) {
    c.status = found->ended_early ? CompletionStatus::unknown : CompletionStatus::complete;
    const Result<plan::Plan> plan = plan::parse_plan(c.candidates[0].script, "");
    c.plan = *plan;
    for (Diagnostic& d : unknown_rows(*first->made.graph, rows)) out.diagnostics.push_back(std::move(d));
    c.result = std::move(first->made);
    c.simulation = std::move(first->simulation);
  } else if (some) {
    c.reason = out.diagnostics.back().what + "; " + out.diagnostics.back().why;
  }
  out.value = std::move(c);
  return out;
}

namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::int64_t peak(const stages::Candidate& c) {
  return c.peak_bytes.empty() ? 0 : *std::max_element(c.peak_bytes.begin(), c.peak_bytes.end());
}

}  // namespace

std::string trade_text(const stages::Candidate& first, const stages::Candidate& other) {
  std::vector<std::string> parts = {percent(other.step_us / first.step_us - 1) + " slower"};
  const std::int64_t bytes = peak(other) - peak(first);
  if (std::abs(static_cast<double>(bytes)) > 0.01 * static_cast<double>(peak(first)))
    parts.push_back(bytes_text(std::abs(static_cast<double>(bytes))) + (bytes < 0 ? " less" : " more") + " memory");
  // What of the step has grown most.
  const stages::Breakdown &a = first.breakdown, &b = other.breakdown;
  const double compute = b.compute_us - a.compute_us, exposed = b.communication_us - a.communication_us,
               pipeline = b.pipeline_us - a.pipeline_us;
  const double most = std::max({compute, exposed, pipeline});
  if (most <= 0) return join(parts, ", ");
  const std::string why = most == compute ? time_text(compute) + " more computing"
                          : most == exposed
                              ? time_text(exposed) + " more of communication that nothing hides (" + b.largest + ")"
                              : time_text(pipeline) + " more waiting for other stages";
  return join(parts, ", ") + ": " + why;
}

}  // namespace planscope
