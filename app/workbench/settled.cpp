#include "app/workbench/settled.h"

#include "engine/base/format.h"

namespace planscope {

namespace {

Diagnostic broken(const plan::Plan& p, const Materialized& made, const BrokenRow& row) {
  const StatementRef at = written_line(p, made.decisions, row.statement);
  Diagnostic d = warning("the predicted peak is " + bytes_text(static_cast<double>(row.peak)) + ", " +
                         bytes_text(static_cast<double>(row.peak - row.limit)) + " more than the row allows");
  d.file = at.file;
  d.line = at.line;
  d.subject = at.text;
  return d;
}

}  // namespace

Result<Settled> settle(const Graph& graph, const plan::Plan& p, const Cluster& cluster, MaterializeCache& cache,
                       const CompletionSettings& settings, const std::atomic<bool>& stop) {
  Result<Settled> out;
  Settled s;
  s.plan = p;
  s.status = CompletionStatus::complete;
  const Result<Decided> decided = decide(graph, p, {}, &cache);
  if (!decided.ok()) return decided.diagnostics;
  if (!decided->decisions.complete) {
    Result<Completion> found = complete(graph, p, {}, cluster, settings, stop);
    if (!found.value || found.has_errors()) return found.diagnostics;
    s.status = found->status;
    s.reason = std::move(found->reason);
    s.conflicts = std::move(found->conflicts);
    s.all_conflicts = found->all_conflicts;
    if (!found->simulation) {
      out.value = std::move(s);
      return out;
    }
    s.plan = std::move(found->plan);
  }
  SimulationOptions options;
  options.costs = settings.costs;
  options.alive = true;
  Result<Judged> judged = judge(graph, s.plan, cluster, cache, options);
  out.diagnostics = judged.diagnostics;
  if (!judged.ok()) return out;
  for (const BrokenRow& row : broken_memory_rows(judged->made, judged->simulation))
    out.diagnostics.push_back(broken(s.plan, judged->made, row));
  s.judged = std::move(*judged.value);
  out.value = std::move(s);
  return out;
}

}  // namespace planscope
