#include "app/workbench/materials.h"

#include <algorithm>
#include <filesystem>

#include "app/workbench/judged.h"
#include "app/workbench/profiling.h"
#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "planner/simulate/alive.h"

namespace planscope {

namespace {
template <class T>
bool take(Result<T>&& from, T& to, std::vector<Diagnostic>& diagnostics) {
  diagnostics.insert(diagnostics.end(), from.diagnostics.begin(), from.diagnostics.end());
  if (!from.value) return false;
  to = std::move(*from.value);
  return true;
}

// What the plan leaves open. Other problems of the plan are not this function's: materialize tells them.
std::optional<Diagnostic> open_arguments(const Graph& graph, const plan::Plan& p, const std::string& verb,
                                         MaterializeCache& cache) {
  const Result<Decided> decided = decide(graph, p, {}, &cache);
  if (!decided.ok() || decided->decisions.complete) return std::nullopt;
  Diagnostic d = error(plan::open_summary(decided->decisions, verb));
  d.file = p.file;
  return d;
}

std::vector<Diagnostic> broken_rows(const Materials& m, const Simulation& predicted) {
  std::vector<Diagnostic> out;
  for (const BrokenRow& row : broken_memory_rows(m.result, predicted)) {
    const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
    const std::string least = row.at_least ? "at least " : "";
    Diagnostic broken = warning("the predicted peak is " + least + text(row.peak) + ", " + least +
                                    text(row.peak - row.limit) + " more than the row allows",
                                row.at_least ? unknown_memory(*m.result.graph) : "");
    const plan::Decisions& d = m.result.decisions;
    const plan::Statement& s = d.plan.statements[static_cast<std::size_t>(row.statement)];
    broken.file = d.plan.file;
    broken.line = s.line;
    broken.subject = plan::print_code(s);
    out.push_back(std::move(broken));
  }
  const std::string unknown = unknown_memory(*m.result.graph);
  if (!unknown.empty() && out.empty() && !m.result.decisions.memory.empty()) {
    const plan::Decisions& d = m.result.decisions;
    const plan::Statement& s = d.plan.statements[static_cast<std::size_t>(d.memory.front().statement)];
    Diagnostic unsure =
        warning("whether the plan keeps the row is not known: predicted peaks are at least what is needed", unknown,
                "'planscope run' measures it");
    unsure.file = d.plan.file;
    unsure.line = s.line;
    unsure.subject = plan::print_code(s);
    out.push_back(std::move(unsure));
  }
  return out;
}
}  // namespace

Result<Materials> open_materials(const std::string& model, const std::string& plan, const std::string& cluster,
                                 const std::string& verb, const Workspace* workspace) {
  Result<Materials> out;
  Materials m;
  const bool opened = take(open_model(model, workspace), m.model, out.diagnostics);
  const bool planned = take(open_plan(plan, workspace), m.plan, out.diagnostics);
  if (!opened || !planned) return out;
  if (!take(open_cluster(cluster, m.plan, workspace), m.cluster, out.diagnostics)) return out;
  MaterializeCache cache;
  if (std::optional<Diagnostic> open = open_arguments(m.model.graph, m.plan, verb, cache)) {
    out.diagnostics.push_back(std::move(*open));
    return out;
  }
  if (!take(materialize(m.model.graph, m.plan, m.cluster, {}, &cache), m.result, out.diagnostics)) return out;
  m.costs = stored_costs(workspace, m.cluster, out.diagnostics);
  out.value = std::move(m);
  return out;
}

Result<Materials> open_materials(OpenProgram p, const std::string& cluster, const Workspace* workspace) {
  Result<Materials> out;
  Materials m;
  if (!take(open_cluster(cluster, p.program.device_count, workspace), m.cluster, out.diagnostics)) return out;
  if (p.program.device_count > m.cluster.device_count()) {
    out.diagnostics.push_back(error("the program is for " + std::to_string(p.program.device_count) + " devices, " +
                                        m.cluster.name + " has " + std::to_string(m.cluster.device_count()),
                                    "", "name a larger cluster, as dgx-h100x16"));
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
  SimulationOptions with_costs = options;
  with_costs.costs = m.costs;
  Result<Simulation> out = simulate(*m.result.graph, m.result.program, m.cluster, with_costs);
  if (!out.ok()) return out;
  for (Diagnostic& broken : broken_rows(m, *out)) out.diagnostics.push_back(std::move(broken));
  return out;
}

std::vector<Diagnostic> broken_memory_rows(const Materials& m) {
  if (m.result.decisions.memory.empty()) return {};
  const Result<Simulation> predicted = simulate(*m.result.graph, m.result.program, m.cluster);
  return predicted.ok() ? broken_rows(m, *predicted) : std::vector<Diagnostic>{};
}

}  // namespace planscope
