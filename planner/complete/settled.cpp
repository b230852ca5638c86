#include "planner/complete/settled.h"

namespace planscope {

Result<Settled> settle(const Graph& graph, const plan::Plan& p, const Cluster& cluster, MaterializeCache& cache,
                       const CompletionSettings& settings, const std::atomic<bool>& stop) {
  Result<Settled> out;
  Settled s;
  s.plan = p;
  s.status = CompletionStatus::complete;
  Result<Decided> decided = decide(graph, p, {}, &cache);
  if (!decided.ok()) return decided.diagnostics;
  const bool complete_as_it_is = decided->decisions.complete;
  if (!complete_as_it_is) {
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
  Result<Evaluation> judged = complete_as_it_is ? evaluate(s.plan, std::move(*decided.value), cluster, options)
                                                : evaluate(graph, s.plan, cluster, cache, options);
  if (complete_as_it_is) out.diagnostics = decided.diagnostics;
  out.diagnostics.insert(out.diagnostics.end(), judged.diagnostics.begin(), judged.diagnostics.end());
  if (!judged.ok()) return out;
  s.judged = std::move(*judged.value);
  out.value = std::move(s);
  return out;
}

}  // namespace planscope
