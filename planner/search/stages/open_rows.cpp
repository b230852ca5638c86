#include "planner/search/stages/open_rows.h"

#include <algorithm>

#include "engine/plan/parser.h"

namespace planscope::stages {
namespace {

constexpr std::int64_t kLeastWork = 6'000'000;  // for one plan, however little is left: about a second

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

OpenRows::OpenRows(const Graph& graph, const Cluster& cluster, const Rules& rules, const Settings& settings,
                   MaterializeCache& cache)
    : cluster_(cluster),
      rules_(rules),
      judge_(make_judge(graph, cluster, settings.simulation, cache)),
      clock_(settings.clock) {}

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
  constraint::Limits limits;
  limits.seconds = deadline.seconds_left();
  limits.work = std::max(kLeastWork, deadline.work_left());
  limits.stop = deadline.stop();
  limits.clock = clock_;
  limits.explain = false;
  const Result<constraint::Completion> found = constraint::complete(asked, {}, judge_, limits);
  if (!found.value || found.has_errors()) return found.diagnostics;
  evaluated = found->evaluations;
  deadline.count(found->work);
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
