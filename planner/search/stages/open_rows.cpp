#include "planner/search/stages/open_rows.h"

#include <algorithm>

#include "engine/plan/parser.h"
#include "planner/constraint/complete.h"

namespace planscope::stages {
namespace {

constexpr double kLeastSeconds = 1;  // for one plan, however little time there is

bool speaks_of_memory(const plan::Statement& s) {
  const auto* require = std::get_if<plan::RequireStatement>(&s.body);
  if (!require) return false;
  bool out = false;
  plan::for_each(require->condition, [&](const plan::Expression& e) {
    out = out || (e.kind == plan::Expression::Kind::call && e.text == "memory");
  });
  return out;
}

// Each answer behind its statement.
plan::Plan with_answers(const plan::Plan& joined, const plan::Plan& completed) {
  plan::Plan out;
  out.file = joined.file;
  for (const plan::Statement& s : joined.statements) {
    out.statements.push_back(s);
    for (const plan::Statement& a : completed.statements)
      if (a.automatic && a.line == s.line) out.statements.push_back(a);
  }
  return out;
}

}  // namespace

OpenRows::OpenRows(const Graph& graph, const Cluster& cluster, const Rules& rules, const SimulationOptions& simulation,
                   MaterializeCache& cache)
    : graph_(graph), cluster_(cluster), rules_(rules), simulation_(simulation), cache_(cache) {}

Result<plan::Plan> OpenRows::filled(const plan::Plan& joined, const Deadline& deadline) const {
  int evaluated = 0;
  const Result<plan::Plan> fits = answered(joined, true, deadline, evaluated);
  return fits.ok() || evaluated == 0 ? fits : answered(joined, false, deadline, evaluated);
}

Result<plan::Plan> OpenRows::answered(const plan::Plan& joined, bool within_memory, const Deadline& deadline,
                                      int& evaluated) const {
  plan::Plan asked;
  for (plan::Statement s : joined.statements) {
    if (!within_memory && speaks_of_memory(s)) continue;
    s.automatic = false;
    asked.statements.push_back(std::move(s));
  }
  if (within_memory) {
    std::int64_t least = cluster_.kinds[0].type.memory.count;
    for (const DeviceKind& kind : cluster_.kinds) least = std::min(least, kind.type.memory.count);
    Result<plan::Statement> fits = plan::parse_statement("require memory(all) <= " + std::to_string(least));
    if (!fits.ok()) return fits.diagnostics;
    fits->line = joined.statements.back().line + 1;
    asked.statements.push_back(std::move(*fits));
  }
  constraint::Judge judge;
  for (const auto& [name, size] : input_dimensions(graph_)) judge.inputs.push_back({name, size});
  judge.model = [&](const plan::InputSizes& sizes) -> Result<plan::ModelInfo> {
    const auto sized = cache_.at(graph_, sizes);
    if (!sized.ok()) return sized.diagnostics;
    return (*sized.value)->info;
  };
  judge.evaluate = [&](const plan::Plan& p) -> Result<constraint::Evaluation> {
    const Result<Materialized> m = materialize(graph_, p, cluster_, {}, &cache_);
    if (!m.ok()) return m.diagnostics;
    const Result<Simulation> s = simulate(*m->graph, m->program, cluster_, simulation_);
    if (!s.ok()) return s.diagnostics;
    constraint::Evaluation out{s->step_us(), {}};
    for (std::size_t c = 0; c < s->classes.size(); ++c)
      out.peaks.push_back({devices(m->program, m->program.classes[c]), s->classes[c].peak.bytes()});
    return out;
  };
  judge.device_count = cluster_.device_count();
  constraint::Limits limits;
  limits.seconds = std::max(kLeastSeconds, static_cast<double>(deadline.milliseconds_left()) / 1000);
  limits.explain = false;
  const Result<constraint::Completion> found = constraint::complete(asked, {}, judge, limits);
  if (!found.value || found.has_errors()) return found.diagnostics;
  evaluated = found->evaluations;
  if (found->plan) return with_answers(joined, *found->plan);
  std::vector<Diagnostic> why;
  if (found->outcome == constraint::Outcome::impossible)
    for (const plan::Statement& s : joined.statements) {
      if (rules_.row_of(s.line) == 0) continue;
      why.push_back(error("the rows leave nothing to choose"));
      why.back().line = s.line;
    }
  if (why.empty()) {
    gave_up_ = true;
    why.push_back(error("nothing was found for what rows leave open", found->reason, ""));
  }
  return why;
}

}  // namespace planscope::stages
