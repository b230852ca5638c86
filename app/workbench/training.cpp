#include "app/workbench/training.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/workbench/profiling.h"
#include "engine/program/program_json.h"

namespace planscope {

namespace {

template <class T>
void keep(const Result<T>& r, std::vector<Diagnostic>& diagnostics) {
  diagnostics.insert(diagnostics.end(), r.diagnostics.begin(), r.diagnostics.end());
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

TrialResult refused(std::string reason) {
  TrialResult r;
  r.failure = LaunchFailure{-1, -1, std::move(reason)};
  return r;
}

TrialResult run(const Materials& m, const TrainingSpec& spec, const std::function<void(const TrialProgress&)>& progress,
                const std::atomic<bool>& stop) {
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
  PosixProcesses processes;
  const SystemClock clock;
  if (spec.join.empty()) return run_trial(trial, progress, stop, {processes, processes}, clock);
  const auto joined = JoinedProcesses::listen(spec.join, spec.address, spec.on_join);
  if (!joined.ok()) return refused(to_string(joined.diagnostics));
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
  out.figure = step_figure(*predicted, workspace, m.cluster, diagnostics);
  out.device = profiled_device(m.cluster);
  const Program& program = m.result.program;
  out.predicted_peak.resize(static_cast<std::size_t>(program.device_count));
  for (std::size_t c = 0; c < program.classes.size(); ++c)
    for (const int device : devices(program, program.classes[c]))
      out.predicted_peak[static_cast<std::size_t>(device)] = {predicted->classes[c].peak.bytes()};
}

}  // namespace

Training train(const Materials& m, const TrainingSpec& spec, Workspace* workspace,
               const std::function<void(const TrialProgress&)>& progress, const std::atomic<bool>& stop,
               std::vector<Diagnostic>& diagnostics) {
  Training out;
  predict(m, spec, workspace, out, diagnostics);
  const Recorded rows = record(workspace, m.model, m.plan, m.cluster, diagnostics);
  if (workspace && rows.plan) {
    const Result<RowId> started = workspace->start_run(rows.plan, m.result.program.device_count, ::getpid());
    keep(started, diagnostics);
    out.run = started.value.value_or(0);
  }
  out.trial = run(m, spec, progress, stop);
  if (workspace && out.run) {
    keep(workspace->add_spans(out.run, rows_of(out.trial.spans)), diagnostics);
    keep(workspace->end_run(out.run, run_status(out.trial.status), to_json(out)), diagnostics);
  }
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
               {"predicted_step_us", t.predicted_us ? Json(*t.predicted_us) : Json()},
               {"device", t.device},
               {"losses", t.trial.losses},
               {"seeded", t.trial.seeded},
               {"check", nullptr},
               {"failure", nullptr}};
  if (t.predicted_us) json.update(Json::parse(to_json(t.figure)));
  if (const auto& c = t.trial.check)
    json["check"] = {
        {"equal", c->equal},      {"max_relative_error", c->max_relative_error},     {"tensor", c->tensor},
        {"what", c->what},        {"model_relative_error", c->model_relative_error}, {"model_tensor", c->model_tensor},
        {"compared", c->compared}};
  if (const auto& f = t.trial.failure)
    json["failure"] = {{"rank", f->rank}, {"instruction", f->instruction}, {"reason", f->reason}};
  if (t.run) json["run"] = t.run;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace planscope
