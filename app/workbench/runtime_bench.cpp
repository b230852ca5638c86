#include "app/workbench/runtime_bench.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "app/workbench/materials.h"
#include "app/workbench/python.h"
#include "engine/base/temporary_folder.h"
#include "engine/launch/trial.h"
#include "engine/launch/turns.h"
#include "engine/program/program_json.h"

namespace planscope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int warm_up = 3;  // pairs

struct Case {
  const char* name;
  const char* kind;  // of peer.py
  const char* against;
};
constexpr Case cases[] = {{"one", "eager", "PyTorch eager"},
                          {"data", "ddp", "DistributedDataParallel over Gloo"},
                          {"1f1b", "pipeline", "torch.distributed.pipelining, Schedule1F1B"}};

Result<Done> make_model(const RuntimeBenchSpec& spec, const TemporaryFolder& folder, const std::atomic<bool>& stop) {
  if (const PythonEnd e = run_python(spec.python, {"-c", "import torch.distributed.pipelining"}, stop); !e.well())
    return error("'" + spec.python + "' cannot import torch", e.err.empty() ? e.how : last_line(e.err),
                 "--python P names a Python with torch 2.9 or later: both sides run side by side");
  const PythonEnd e = run_python(spec.python, {spec.scripts + "/model.py", folder / ""}, stop);
  if (!e.well()) return error("the model of the benchmark cannot be made", e.how + ": " + last_line(e.err));
  return Done{};
}

Result<RuntimeSide> side_of(const std::vector<double>& steps, const std::vector<double>& cpu,
                            const std::vector<std::int64_t>& resident) {
  if (steps.size() <= warm_up || cpu.size() != steps.size() || resident.empty()) return error("a side has no figures");
  RuntimeSide side;
  side.step_us.assign(steps.begin() + warm_up, steps.end());
  side.cpu_us.assign(cpu.begin() + warm_up, cpu.end());
  side.resident_bytes = *std::max_element(resident.begin(), resident.end());
  return side;
}

Result<RuntimeSide> side_of(const TrialResult& r) {
  if (r.status != LaunchStatus::done)
    return error("our side failed", r.failure ? r.failure->reason : std::string(to_string(r.status)));
  std::vector<double> steps, cpu;
  std::vector<std::int64_t> resident;
  for (const Microseconds t : r.steps) steps.push_back(t.count);
  for (const Microseconds t : r.cpu) cpu.push_back(t.count);
  for (const Bytes b : r.resident) resident.push_back(b.count);
  return side_of(steps, cpu, resident);
}

Result<RuntimeSide> side_of(const PythonEnd& e) {
  const Json json = Json::parse(e.out, nullptr, false);
  if (!e.well() || !json.is_object()) return error("PyTorch's side failed", e.how + ": " + last_line(e.err));
  return side_of(json.value("step_us", std::vector<double>{}), json.value("cpu_us", std::vector<double>{}),
                 json.value("resident_bytes", std::vector<std::int64_t>{}));
}

Result<RuntimeComparison> compare(const Case& c, const RuntimeBenchSpec& spec, const TemporaryFolder& folder,
                                  const std::atomic<bool>& stop) {
  Result<Materials> m =
      open_materials(folder / "gpt.pt2", spec.scripts + "/" + c.name + ".plan", "local", "bench", nullptr);
  if (!m.value || m.has_errors()) return m.diagnostics;
  const int ranks = m->result.program.device_count;
  std::vector<int> cores = available_cores();
  if (cores.size() < static_cast<std::size_t>(ranks))
    return error("'" + std::string(c.name) + "' needs " + std::to_string(ranks) + " cores",
                 std::to_string(cores.size()) + " may be used", "ranks that share a core measure nothing");
  cores.resize(static_cast<std::size_t>(ranks));
  const std::string name = c.name, to_us = folder / (name + "-ours"), to_them = folder / (name + "-theirs");
  for (const std::string& path : {to_us, to_them})
    if (::mkfifo(path.c_str(), 0600) != 0) return error("cannot make the pipe '" + path + "'", std::strerror(errno));

  TrialSpec trial;
  trial.worker = spec.worker;
  trial.folder = folder / "";
  trial.model = folder / "gpt.pt2";
  trial.program = to_json(m->result.program);
  trial.sizes = m->result.program.sizes;
  trial.ranks = ranks;
  trial.steps = warm_up + spec.pairs;
  trial.optimizer = "adamw";
  trial.check = false;
  trial.cores = cores;
  trial.turn_from = to_us;
  trial.turn_to = to_them;
  std::vector<std::string> arguments = {spec.scripts + "/peer.py",
                                        c.kind,
                                        "--steps",
                                        std::to_string(trial.steps),
                                        "--from",
                                        to_them,
                                        "--to",
                                        to_us,
                                        "--meeting",
                                        folder / (name + "-meeting"),
                                        "--cores"};
  for (const int core : cores) arguments.push_back(std::to_string(core));

  Result<Turns> first = Turns::open(to_them, to_us);  // stays open, so that no token is lost while a side starts
  if (!first.ok()) return first.diagnostics;
  first->give();
  // Whichever side ends early ends the other.
  std::atomic<bool> over{false};
  PythonEnd peer;
  std::thread theirs([&] {
    peer = run_python(spec.python, arguments, over);
    if (!peer.well()) over = true;
  });
  std::atomic<bool> finished{false};
  std::thread watch([&] {
    for (; !finished; ::usleep(100'000))
      if (stop) over = true;
  });
  PosixProcesses processes;
  const SystemClock clock;
  const TrialResult ours = run_trial(trial, {}, over, {processes, processes}, clock);
  if (ours.status != LaunchStatus::done) over = true;
  theirs.join();
  finished = true;
  watch.join();

  if (stop) return error("interrupted");
  // The side that failed by itself is told; the other one was only ended.
  const Result<RuntimeSide> a = side_of(ours), b = side_of(peer);
  if (!a.ok() && ours.status == LaunchStatus::failed) return a.diagnostics;
  if (!b.ok()) return b.diagnostics;
  if (!a.ok()) return a.diagnostics;
  RuntimeComparison r{c.name, c.against, ranks, *a, *b, {}, {}, 0};
  r.step = paired_ratio(r.ours.step_us, r.theirs.step_us);
  r.processor = paired_ratio(r.ours.cpu_us, r.theirs.cpu_us);
  r.memory = static_cast<double>(r.ours.resident_bytes) / static_cast<double>(r.theirs.resident_bytes);
  return r;
}

}  // namespace

Ratio paired_ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / theirs[i]);
  std::sort(ratios.begin(), ratios.end());
  const std::size_t n = ratios.size();
  // As many of the smallest and of the largest are left out as are all on one side of the true median with at most 2.5 %
  // each: how many values are below it is binomial (n, 1/2). Below six values that is none, and the interval is less sure.
  std::size_t out = 0;
  double exactly = std::pow(0.5, static_cast<double>(n)), at_most = exactly;
  for (;; ++out) {
    exactly *= static_cast<double>(n - out) / static_cast<double>(out + 1);
    at_most += exactly;
    if (at_most > 0.025) break;
  }
  const double median = n % 2 == 1 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
  return {median, ratios[out], ratios[n - 1 - out]};
}

Result<std::vector<RuntimeComparison>> bench_runtime(const RuntimeBenchSpec& spec,
                                                     const std::vector<std::string>& names,
                                                     const BenchProgress& progress, const std::atomic<bool>& stop) {
  std::vector<const Case*> chosen;
  for (const Case& c : cases)
    if (names.empty() || std::find(names.begin(), names.end(), c.name) != names.end()) chosen.push_back(&c);
  const TemporaryFolder folder("bench");
  if (!folder) return error("cannot make a temporary folder", std::strerror(errno));
  if (const Result<Done> made = make_model(spec, folder, stop); !made.ok()) return made.diagnostics;
  std::vector<RuntimeComparison> out;
  for (const Case* c : chosen) {
    if (progress) progress(c->name);
    Result<RuntimeComparison> r = compare(*c, spec, folder, stop);
    if (!r.ok()) return r.diagnostics;
    out.push_back(std::move(*r));
  }
  return out;
}

}  // namespace planscope
