#include "app/workbench/training.h"

#include <filesystem>
#include <set>
#include <nlohmann/json.hpp>

#include "app/workbench/keep.h"
#include "app/workbench/profiling.h"
#include "engine/base/process_identity.h"
#include "engine/base/text.h"
#include "engine/graph/foreign.h"
#include "engine/program/program_json.h"
#include "planner/simulate/alive.h"

namespace planscope {

namespace {

constexpr std::chrono::seconds kAtTheEnd{60};  // for a workspace that another program has: a run is dear

// 0: not recorded, which its end makes up for.
RowId begin_run(const Recording& found, const RunRow& run, Workspace* workspace, std::vector<Diagnostic>& diagnostics) {
  if (!workspace) return 0;
  const Result<RecordedRows> rows = workspace->add(found);
  Result<RowId> id = rows.diagnostics;
  if (rows.ok()) id = workspace->start_run(rows->plan, run.ranks, run.process);
  if (id.ok()) return *id;
  if (!is_locked(id.diagnostics)) diagnostics.insert(diagnostics.end(), id.diagnostics.begin(), id.diagnostics.end());
  return 0;
}

RunStatus run_status(LaunchStatus s) {
  switch (s) {
    case LaunchStatus::done:
      return RunStatus::done;
    case LaunchStatus::failed:
      return RunStatus::failed;
    case LaunchStatus::interrupted:
      return RunStatus::interrupted;
  }
  return RunStatus::failed;
}

std::vector<SpanRow> rows_of(const std::vector<SpanList>& spans) {
  std::vector<SpanRow> rows;
  for (std::size_t rank = 0; rank < spans.size(); ++rank)
    for (const Span& s : spans[rank])
      rows.push_back({static_cast<int>(rank), s.step, s.instruction, s.kind, s.start.count, s.duration.count});
  return rows;
}

TrialResult refused(std::string reason, bool bad_input = false) {
  TrialResult r;
  r.failure = LaunchFailure{-1, -1, std::move(reason), bad_input};
  return r;
}

}  // namespace

std::string why_not_run(const Model& model) {
  if (model.data_numbers.empty()) return {};
  return model.data_numbers.front() + " reads a number that depends on data; planned with its upper bound, it cannot be run";
}

namespace {

TrialResult run(const Materials& m, const TrainingSpec& spec, const std::function<void(const TrialProgress&)>& progress,
                const std::atomic<bool>& stop) {
  if (std::string why = why_not_run(*m.model.model); !why.empty()) return refused(std::move(why));
  std::error_code ec;
  std::filesystem::create_directories(spec.folder, ec);
  if (ec) return refused("cannot make the folder '" + spec.folder + "': " + ec.message());
  if (!std::filesystem::exists(spec.worker, ec))
    return refused("'" + spec.worker + "' is not there: planscope was built without LibTorch");
  TrialSpec trial;
  trial.worker = spec.worker;
  trial.folder = std::filesystem::absolute(spec.folder, ec).string();
  trial.model = std::filesystem::absolute(m.model.model->path, ec).string();
  trial.model_digest = m.result.graph->digest;
  trial.program = to_json(m.result.program);
  trial.sizes = m.result.program.sizes;
  for (const Relaxation& r : m.result.program.relaxations) trial.lags.emplace_back(r.op, r.lag);
  trial.ranks = m.result.program.device_count;
  trial.steps = spec.steps;
  trial.optimizer = spec.optimizer;
  trial.seed = spec.seed;
  trial.inputs = spec.inputs;
  PosixProcesses processes;
  const SystemClock clock;
  if (spec.join.empty()) return run_trial(trial, progress, stop, {processes, processes}, clock);
  const auto joined = JoinedProcesses::listen(spec.join, spec.address, spec.on_join);
  if (!joined.ok()) return refused(to_string(joined.diagnostics), true);
  return run_trial(trial, progress, stop, {processes, **joined}, clock);
}

void predict(const Materials& m, const TrainingSpec& spec, const Workspace* workspace, Training& out,
             std::vector<Diagnostic>& diagnostics) {
  SimulationOptions options;
  options.optimizer_state_bytes = spec.optimizer == "adamw" ? 8 : 4;
  const Result<Simulation> predicted = planscope::predict(m, options);
  if (!predicted.ok()) return;
  diagnostics.insert(diagnostics.end(), predicted.diagnostics.begin(), predicted.diagnostics.end());
  out.predicted_us = predicted->step_us();
  out.predicted_word = memory_word(*m.result.graph);
  out.figure = step_figure(*predicted, workspace, m.cluster, diagnostics);
  out.device = profiled_device(m.cluster);
  const Program& program = m.result.program;
  out.predicted_peak.resize(static_cast<std::size_t>(program.device_count));
  for (std::size_t c = 0; c < program.classes.size(); ++c)
    for (const int device : devices(program, program.classes[c]))
      out.predicted_peak[static_cast<std::size_t>(device)] = {predicted->classes[c].peak.bytes()};
}

// Operators that LibTorch does not have, each once.
std::vector<std::string> foreign_operators(const Model& model) {
  std::set<std::string> names;
  for (const Node& node : model.nodes)
    if (is_foreign(node)) names.insert(foreign_name(node));
  return {names.begin(), names.end()};
}

}  // namespace

Training train(const Materials& m, const TrainingSpec& spec, Workspace* workspace,
               const std::function<void(const TrialProgress&)>& progress, const std::atomic<bool>& stop,
               std::vector<Diagnostic>& diagnostics) {
  Training out;
  out.cluster = m.cluster.name;
  out.cluster_digest = hex(m.cluster.digest());
  out.optimizer = spec.optimizer;
  out.seed = spec.seed;
  out.stand_ins = foreign_operators(*m.model.model);
  for (const std::string& name : out.stand_ins) {
    Diagnostic d = warning("LibTorch has no such operator: a stand-in of the same sizes runs in its place",
                           "the plan is compared with the one-device run; losses and times are not those of the model",
                           "write it with operators of PyTorch, or export after run_decompositions(), for true ones");
    d.subject = name;
    diagnostics.push_back(std::move(d));
  }
  predict(m, spec, workspace, out, diagnostics);
  Recording found = recording_of(m.model, m.plan, m.cluster);
  found.plan.id = spec.plan;
  RunRow row;
  row.ranks = m.result.program.device_count;
  row.process = this_process();
  row.started_us = SystemClock().wall_us();
  row.id = out.run = begin_run(found, row, workspace, diagnostics);
  out.trial = run(m, spec, progress, stop);
  row.status = run_status(out.trial.status);
  row.ended_us = SystemClock().wall_us();
  row.result = to_json(out);
  found.run = std::move(row);
  found.spans = rows_of(out.trial.spans);
  const Kept kept = keep(spec.workspace, workspace, found, {kAtTheEnd, spec.on_locked, &stop}, diagnostics);
  out.recorded = kept.recorded;
  if (kept.rows.run) out.run = kept.rows.run;
  return out;
}

std::string to_json(const Training& t) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array(), peak = Json::array(), predicted_peak = Json::array();
  for (const Microseconds s : t.trial.steps) steps.push_back(s.count);
  for (const Bytes b : t.trial.peak) peak.push_back(b.count);
  for (const Bytes b : t.predicted_peak) predicted_peak.push_back(b.count);
  Json json = {{"status", std::string(to_string(t.trial.status))},
               {"ranks", t.trial.ranks},
               {"step_us", steps},
               {"oversubscribed", t.trial.oversubscribed},
               {"transport", t.trial.transport},
               {"peak_bytes", peak},
               {"predicted_peak_bytes", predicted_peak},
               {"predicted_peak_is_at_least", t.predicted_word == "at least "},
               {"predicted_step_us", t.predicted_us ? Json(*t.predicted_us) : Json()},
               {"device", t.device},
               {"cluster", t.cluster},
               {"cluster_digest", t.cluster_digest},
               {"optimizer", t.optimizer},
               {"seed", t.seed},
               {"losses", t.trial.losses},
               {"inputs", t.trial.inputs},
               {"inputs_note", t.trial.inputs_note},
               {"seeded", t.trial.seeded},
               {"stand_ins", t.stand_ins},
               {"check", nullptr},
               {"failure", nullptr}};
  if (t.predicted_us) json.update(Json::parse(to_json(t.figure)));
  if (const auto& c = t.trial.check)
    json["check"] = {
        {"equal", c->equal},      {"max_relative_error", c->max_relative_error},     {"tensor", c->tensor},
        {"what", c->what},        {"model_relative_error", c->model_relative_error}, {"model_tensor", c->model_tensor},
        {"compared", c->compared},
        {"not_finite", c->not_finite.empty() ? Json() : Json(c->not_finite)}};
  if (const auto& f = t.trial.failure)
    json["failure"] = {{"rank", f->rank}, {"instruction", f->instruction}, {"reason", f->reason}};
  if (t.run) json["run"] = t.run;
  json["recorded"] = t.recorded;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace planscope
