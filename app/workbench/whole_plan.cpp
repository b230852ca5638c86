#include "app/workbench/whole_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope {

Result<WholePlan> whole_plan(const Graph& graph, const std::vector<plan::Plan>& rows, const Cluster& cluster,
                             const WholePlanSettings& settings, const std::atomic<bool>& stop) {
  stages::Settings s;
  s.global_batch = settings.global_batch;
  s.seconds = settings.time_limit_s;
  s.templates = settings.templates;
  s.rows = rows;
  s.relaxing_seconds = settings.relaxing_seconds;
  s.simulation.costs = settings.costs;
  s.stop = &stop;
  Result<stages::Found> found = stages::search(graph, cluster, s);
  Result<WholePlan> out;
  out.diagnostics = found.diagnostics;
  if (!found.value || found.has_errors()) return out;
  WholePlan w;
  w.candidates = std::move(found->best);
  Completion& c = w.completion;
  c.reason = found->reason;
  c.conflicts = std::move(found->conflicts);
  c.all_conflicts = found->all_conflicts;
  if (found->outcome != stages::Outcome::impossible && found->lower_bound_us > 0 &&
      std::isfinite(found->lower_bound_us))
    c.lower_bound_us = found->lower_bound_us;
  if (found->outcome == stages::Outcome::impossible) {
    c.status = CompletionStatus::impossible;
  } else if (!w.candidates.empty()) {
    c.status = found->ended_early ? CompletionStatus::unknown : CompletionStatus::complete;
    const Result<plan::Plan> plan = plan::parse_plan(w.candidates[0].script, "");
    c.plan = *plan;
    Result<Materialized> made = materialize(graph, c.plan, cluster);
    if (!made.ok()) return made.diagnostics;
    Result<Simulation> simulated = simulate(*made->graph, made->program, cluster, s.simulation);
    if (!simulated.ok()) return simulated.diagnostics;
    c.result = std::move(*made.value);
    c.simulation = std::move(*simulated.value);
  }
  out.value = std::move(w);
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
