#include "app/workbench/judged.h"

#include <algorithm>

#include "engine/plan/printer.h"
#include "planner/constraint/complete.h"
#include "planner/simulate/alive.h"
#include "planner/verify/verify.h"

namespace planscope {

Result<Judged> judge(const Graph& graph, const plan::Plan& p, const Cluster& cluster, MaterializeCache& cache,
                     const SimulationOptions& options) {
  Result<Judged> out;
  Result<Materialized> made = materialize(graph, p, cluster, {}, &cache);
  out.diagnostics = made.diagnostics;
  if (!made.value || made.has_errors()) return out;
  Result<Simulation> simulated = simulate(*made->graph, made->program, cluster, options);
  out.diagnostics.insert(out.diagnostics.end(), simulated.diagnostics.begin(), simulated.diagnostics.end());
  if (!simulated.value || simulated.has_errors()) return out;
  out.value = Judged{std::move(*made.value), std::move(*simulated.value), options};
  return out;
}

std::optional<Diagnostic> not_to_hand_out(const Materialized& m) {
  const VerifyReport r = verify(*m.graph, m.program);
  if (r.verdict == Verdict::equivalent || r.verdict == Verdict::relaxed) return std::nullopt;
  const bool no_loss = m.graph->model->loss < 0;
  return warning("the plan is not given as an answer: verifying it says " + std::string(to_string(r.verdict)),
                 no_loss ? "the model has no loss" : r.failures.empty() ? "" : to_string(r.failures.front()),
                 no_loss ? "export the model with its loss"
                         : "this is a fault of planscope; please report it with the model");
}

std::int64_t peak_bytes(const Simulation& s) {
  std::int64_t most = 0;
  for (const ClassTimeline& t : s.classes) most = std::max(most, t.peak.bytes());
  return most;
}

std::vector<BrokenRow> broken_memory_rows(const Materialized& made, const Simulation& predicted) {
  std::vector<BrokenRow> out;
  std::vector<constraint::Peak> peaks;
  for (std::size_t c = 0; c < predicted.classes.size(); ++c)
    peaks.push_back({devices(made.program, made.program.classes[c]), predicted.classes[c].peak.bytes()});
  for (const plan::MemoryRow& row : made.decisions.memory) {
    const std::int64_t excess = constraint::excess_bytes(made.decisions, row, peaks);
    if (excess > 0)
      out.push_back({row.statement, *row.limit_bytes + excess - (row.strict ? 1 : 0), *row.limit_bytes,
                     !memory_is_known(*made.graph)});
  }
  return out;
}

StatementRef written_line(const plan::Plan& as_written, const plan::Decisions& d, int statement) {
  const plan::Statement& s = d.plan.statements[static_cast<std::size_t>(statement)];
  StatementRef out{s.line, as_written.file, plan::print_code(s)};
  if (s.from.empty()) return out;
  for (const plan::Statement& use : as_written.statements)
    if (use.line == s.line && std::holds_alternative<plan::UseStatement>(use.body)) out.text = plan::print_code(use);
  return out;
}

}  // namespace planscope
