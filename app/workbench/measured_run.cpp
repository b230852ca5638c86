#include "app/workbench/measured_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/workbench/measured_step.h"
#include "app/workbench/profiling.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope {

namespace {

using Json = nlohmann::json;

Result<Cluster> cluster_of(const Json& result, const plan::Plan& plan, const std::string& otherwise,
                           const Workspace& workspace) {
  const std::string digest =
      result.contains("cluster_digest") && result["cluster_digest"].is_string() ? result["cluster_digest"] : Json("");
  const Result<std::vector<ClusterRow>> rows = workspace.clusters();
  if (!rows.ok()) return rows.diagnostics;
  for (const ClusterRow& row : *rows)
    if (!digest.empty() && row.digest == digest) return parse_cluster(row.json, workspace.file());
  return open_cluster(otherwise, plan, &workspace);
}

std::vector<double> numbers(const Json& j, const char* name) {
  std::vector<double> out;
  if (j.contains(name) && j[name].is_array())
    for (const Json& v : j[name])
      if (v.is_number()) out.push_back(v.get<double>());
  return out;
}

}  // namespace

std::size_t median_step(const std::vector<double>& step_us) {
  std::vector<std::size_t> order(step_us.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return step_us[a] < step_us[b]; });
  return order.empty() ? 0 : order[order.size() / 2];
}

Result<MeasuredRun> measured_run(const OpenModel& model, const Workspace& workspace, RowId run,
                                 const std::string& cluster) {
  const Result<RunRow> row = workspace.run(run);
  if (!row.ok()) return row.diagnostics;
  const std::string which = "run " + std::to_string(run);
  const Json result = Json::parse(row->result, nullptr, false);
  const std::vector<double> steps = result.is_object() ? numbers(result, "step_us") : std::vector<double>{};
  if (row->status != RunStatus::done || steps.empty())
    return error(which + " has measured no step", "it is " + std::string(to_string(row->status)), "run the plan again");
  const Result<PlanRow> plan_row = workspace.plan(row->plan);
  if (!plan_row.ok()) return plan_row.diagnostics;
  if (plan_row->model) {
    const Result<ModelRow> of = workspace.model(*plan_row->model);
    if (of.ok() && file_digest(model.model->path).value != of->digest)
      return error(which + " is of another model", of->name, "open that model");
  }
  MeasuredRun out;
  out.run = run;
  out.version = plan_row->id;
  out.plan = plan_row->name;
  out.oversubscribed = result.value("oversubscribed", false);
  const Result<plan::Plan> plan = plan::parse_plan(plan_row->text, plan_row->name);
  if (!plan.value || plan.has_errors()) return plan.diagnostics;
  out.text = plan::print(*plan);
  Result<Cluster> on = cluster_of(result, *plan, cluster, workspace);
  if (!on.value || on.has_errors()) return on.diagnostics;
  out.cluster = std::move(*on.value);
  Result<MeasuredRun> answer;
  SimulationOptions options;
  options.costs = stored_costs(&workspace, out.cluster, answer.diagnostics);
  if (Result<std::string> name = workspace.measurements(); name.value) out.measurements = std::move(*name.value);
  options.optimizer_state_bytes = result.contains("optimizer") && result["optimizer"] == "sgd" ? 4 : 8;
  options.gaps = true;
  options.alive = true;
  MaterializeCache cache;
  Result<Evaluation> e = evaluate(model.graph, *plan, out.cluster, cache, options);
  if (!e.value || e.has_errors()) return e.diagnostics;
  out.predicted = std::move(*e.value);
  out.step = static_cast<int>(median_step(steps));
  const Result<std::vector<SpanRow>> spans = workspace.spans(run, out.step);
  if (!spans.ok()) return spans.diagnostics;
  const Program& program = out.predicted.made.program;
  Result<Simulation> measured = measured_step(program, *spans, steps[static_cast<std::size_t>(out.step)]);
  if (!measured.ok()) return measured.diagnostics;
  out.measured = std::move(*measured.value);
  out.errors = prediction_errors(*out.predicted.made.graph, program, out.predicted.simulation, out.measured);
  answer.value = std::move(out);
  return answer;
}

}  // namespace planscope
