#include "app/workbench/pytorch_check.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/workbench/materials.h"
#include "app/workbench/python.h"
#include "app/workbench/pytorch_files.h"
#include "app/workbench/training.h"
#include "engine/base/temporary_folder.h"
#include "engine/base/text.h"
#include "engine/launch/launcher.h"
#include "engine/launch/trial_job.h"
#include "planner/simulate/alive.h"

namespace planscope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* no_torch = "exited with status 77";  // pytorch/check.py

struct Checked {
  PytorchAnswer answer;
  std::string path, record;
};

// The memory of AdamW on one device, as `planscope simulate` has it.
void predict_memory(const Materials& m, PytorchAnswer& out) {
  out.unknown_memory = unknown_memory(m.model.graph);
  if (!out.unknown_memory.empty()) return;
  const Result<Simulation> predicted = predict(m);
  if (predicted.ok())
    out.predicted_peak_bytes = predicted->classes.front().peak.bytes();
  else
    out.unknown_memory = to_string(predicted.diagnostics);
}

// Written by a worker; else the answer says why not.
void make_record(const PytorchCheckSpec& spec, Checked& c, const std::atomic<bool>& stop) {
  TrialJob job;
  job.task = TrialTask::record;
  job.model = c.path;
  job.steps = spec.steps;
  job.seed = spec.seed;
  job.reference = c.record;
  job.inputs = spec.inputs;
  PosixProcesses processes;
  const SystemClock clock;
  const LaunchResult done = launch({.program = spec.worker, .ranks = 1, .job = print(job)}, {}, stop, processes, clock);
  if (done.status == LaunchStatus::done) return;
  c.answer.bad_input = done.failure && done.failure->bad_input;
  c.answer.failed = c.answer.bad_input ? done.failure->reason
                    : done.failure
                        ? "planscope's one-device run failed, and there is nothing to compare: " + done.failure->reason
                        : std::string(to_string(done.status));
}

void take_answer(const std::string& line, PytorchAnswer& out) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) {
    out.failed = "PyTorch's side gave no answer";
    return;
  }
  out.json = line;
  out.failed = json.contains("failed") ? "PyTorch: " + json["failed"].get<std::string>() : json.value("unlike", "");
  out.equal = out.failed.empty() && json.value("equal", false) && json.value("flops", Json::array()).empty();
}

std::optional<Diagnostic> run_script(const PytorchCheckSpec& spec, const TemporaryFolder& folder,
                                     std::vector<Checked*> todo, const std::atomic<bool>& stop,
                                     const std::function<void(const std::string&)>& begun) {
  Json jobs = Json::array();
  for (const Checked* c : todo) jobs.push_back({{"model", c->path}, {"record", c->record}});
  for (const PythonFile& f : pytorch_files())
    if (const Result<Done> written = write_file(folder / f.name, f.text); !written.ok()) return written.diagnostics[0];
  if (const Result<Done> written = write_file(folder / "jobs.json", jobs.dump()); !written.ok())
    return written.diagnostics[0];
  std::string heard;
  std::size_t next = 0;
  const auto take = [&](std::string_view text) {
    heard += text;
    for (std::size_t end; (end = heard.find('\n')) != std::string::npos; heard.erase(0, end + 1))
      if (heard[0] == '{' && next < todo.size()) {  // the profiler of PyTorch may write lines of its own
        take_answer(heard.substr(0, end), todo[next++]->answer);
        if (next < todo.size()) begun(todo[next]->answer.model);
      }
  };
  begun(todo.front()->answer.model);
  const PythonEnd e = run_python(spec.python, {folder / "check.py", folder / "jobs.json"}, stop, take);
  if (e.well() || stop) return std::nullopt;
  if (e.how == no_torch || e.how == "exited with status 127" || e.how == "exited with status 126")
    return error("'" + spec.python + "' cannot import torch", last_line(e.err),
                 "--python P names a Python with torch 2.9 or later: pip install torch numpy, in a virtual environment");
  for (; next < todo.size(); ++next) todo[next]->answer.failed = "PyTorch's side ended: " + e.how + ": " + last_line(e.err);
  return std::nullopt;
}

}  // namespace

Result<std::vector<PytorchAnswer>> check_with_pytorch(
    const PytorchCheckSpec& spec, const std::vector<std::string>& models, const Workspace* workspace,
    const std::function<void(const std::string&, const std::string&)>& progress, const std::atomic<bool>& stop) {
  std::error_code ec;
  if (!fs::exists(spec.worker, ec))
    return error("'" + spec.worker + "' is not there", "planscope was built without LibTorch", "./run sets it up");
  const TemporaryFolder folder("check");
  if (!folder) return error("cannot make a temporary folder", std::strerror(errno));
  if (const Result<Done> written = write_file(folder / "one.plan", "devices 1\n"); !written.ok())
    return written.diagnostics;
  std::vector<Checked> all(models.size());
  std::vector<Checked*> todo;
  for (std::size_t i = 0; i < models.size() && !stop; ++i) {
    Checked& c = all[i];
    c.answer.model = models[i];
    Result<Materials> m = open_materials(models[i], folder / "one.plan", "local", "check", workspace);
    if (!m.value || m.has_errors()) {
      if (models.size() == 1) return m.diagnostics;
      c.answer.failed = to_string(m.diagnostics);
      c.answer.bad_input = true;
      continue;
    }
    if (m->model.model->loss < 0) {
      if (models.size() == 1) return error("the model has no loss: it cannot be trained", m->model.model->path);
      c.answer.failed = "the model has no loss";
      c.answer.bad_input = true;
      continue;
    }
    c.answer.failed = why_not_run(*m->model.model);
    if (!c.answer.failed.empty()) continue;
    predict_memory(*m, c.answer);
    c.path = fs::absolute(m->model.model->path, ec).string();
    c.record = folder / ("record-" + std::to_string(i));
    if (progress) progress("one-device run", models[i]);
    make_record(spec, c, stop);
    if (c.answer.failed.empty()) todo.push_back(&c);
  }
  if (!todo.empty() && !stop) {
    const auto begun = [&](const std::string& model) {
      if (progress) progress("PyTorch", model);
    };
    if (std::optional<Diagnostic> problem = run_script(spec, folder, todo, stop, begun)) return *problem;
  }
  std::vector<PytorchAnswer> out;
  for (Checked& c : all) {
    if (c.answer.failed.empty() && c.answer.json == "{}") c.answer.failed = "interrupted";
    out.push_back(std::move(c.answer));
  }
  return out;
}

}  // namespace planscope
