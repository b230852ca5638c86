#include "app/workbench/materials.h"

#include <filesystem>

#include "app/workbench/profiling.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

namespace {
template <class T>
bool take(Result<T>&& from, T& to, std::vector<Diagnostic>& diagnostics) {
  diagnostics.insert(diagnostics.end(), from.diagnostics.begin(), from.diagnostics.end());
  if (!from.value) return false;
  to = std::move(*from.value);
  return true;
}

// A plan is bound whatever else is wrong, so that all errors of its lines are told at once, and made into a Program if nothing is.
Result<Materials> put_together(OpenModel model, plan::Plan plan, std::vector<Diagnostic> so_far, const std::string& cluster,
                               const std::string& verb, const Workspace* workspace) {
  Result<Materials> out;
  out.diagnostics = std::move(so_far);
  Materials m;
  m.model = std::move(model);
  m.plan = std::move(plan);
  const bool placed = take(open_cluster(cluster, m.plan, workspace), m.cluster, out.diagnostics);
  MaterializeCache cache;
  Result<Decided> decided = decide(m.model.graph, m.plan, {}, &cache);
  out.diagnostics.insert(out.diagnostics.end(), decided.diagnostics.begin(), decided.diagnostics.end());
  if (!placed || !decided.value || out.has_errors()) return out;
  if (!decided->decisions.complete) {
    Diagnostic open = error(plan::open_summary(decided->decisions, verb));
    open.file = m.plan.file;
    out.diagnostics.push_back(std::move(open));
    return out;
  }
  if (!take(program_of(std::move(*decided.value), m.cluster), m.result, out.diagnostics)) return out;
  m.costs = stored_costs(workspace, m.cluster, out.diagnostics);
  out.value = std::move(m);
  return out;
}

Result<Prediction> by_its_costs(const Materials& m, SimulationOptions options) {
  options.costs = m.costs;
  return predict(m.plan, m.result, m.cluster, options);
}

}  // namespace

Result<Materials> open_materials(const std::string& model, const std::string& plan, const std::string& cluster,
                                 const std::string& verb, const Workspace* workspace) {
  Result<Materials> out;
  OpenModel m;
  plan::Plan p;
  const bool opened = take(open_model(model, workspace), m, out.diagnostics);
  const bool planned = take(open_plan(plan, workspace), p, out.diagnostics);
  if (!opened || !planned) return out;
  return put_together(std::move(m), std::move(p), std::move(out.diagnostics), cluster, verb, workspace);
}

Result<Materials> open_materials(OpenModel model, plan::Plan plan, const std::string& cluster, const std::string& verb,
                                 const Workspace* workspace) {
  return put_together(std::move(model), std::move(plan), {}, cluster, verb, workspace);
}

Result<Materials> open_materials(OpenProgram p, const std::string& cluster, const Workspace* workspace) {
  Result<Materials> out;
  Materials m;
  if (!take(open_cluster(cluster, p.program.device_count, workspace), m.cluster, out.diagnostics)) return out;
  if (p.program.device_count > m.cluster.device_count()) {
    out.diagnostics.push_back(too_few_devices("the program is for", p.program.device_count, m.cluster));
    return out;
  }
  m.costs = stored_costs(workspace, m.cluster, out.diagnostics);
  m.model = std::move(p.model);
  m.result.graph = std::move(p.graph);
  m.result.program = std::move(p.program);
  out.value = std::move(m);
  return out;
}

Result<Simulation> predict(const Materials& m, const SimulationOptions& options) {
  Result<Prediction> predicted = by_its_costs(m, options);
  Result<Simulation> out;
  out.diagnostics = std::move(predicted.diagnostics);
  if (predicted.value) out.value = std::move(predicted->simulation);
  return out;
}

std::vector<Diagnostic> broken_memory_rows(const Materials& m) {
  if (m.result.decisions.memory.empty()) return {};
  const Result<Prediction> predicted = by_its_costs(m, {});
  if (!predicted.ok()) return {};
  return broken_row_warnings(m.plan, m.result, predicted->broken);
}

}  // namespace planscope
