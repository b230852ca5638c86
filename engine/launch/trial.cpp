#include "engine/launch/trial.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/base/text.h"

namespace planscope {

namespace {

namespace fs = std::filesystem;

class Trial {
 public:
  Trial(const TrialSpec& spec, const std::function<void(const TrialProgress&)>& progress, const std::atomic<bool>& stop,
        TrialProcesses processes, const Clock& clock)
      : spec_(spec), progress_(progress), stop_(stop), processes_(processes), clock_(clock) {
    result_.ranks = spec.ranks;
    job_ = {TrialTask::trial, spec.model,       spec.sizes,     "",           spec.steps, spec.optimizer, spec.seed,
            spec.check,       reference_path(), spec.turn_from, spec.turn_to, spec.lags};
  }

  TrialResult run() {
    if (spec_.check && !fs::exists(job_.reference) && !make_reference()) return result_;
    job_.program = (fs::path(spec_.folder) /
                    ("program-" + std::to_string(::getpid()) + "-" + hex(digest(spec_.program)) + ".json"))
                       .string();
    std::ofstream out(job_.program, std::ios::binary);
    out << spec_.program;
    out.close();
    if (!out) {
      fail("cannot write '" + job_.program + "'");
      return result_;
    }
    run_ranks();
    std::error_code ignored;
    fs::remove(job_.program, ignored);
    return result_;
  }

 private:
  // Everything that the one-device run depends on is in its name.
  std::string reference_path() const {
    std::string key = hex(spec_.model_digest) + " " + spec_.model + " " + spec_.optimizer;
    for (const std::int64_t n : {static_cast<std::int64_t>(spec_.steps), static_cast<std::int64_t>(spec_.seed)})
      key += " " + std::to_string(n);
    for (const auto& [name, size] : spec_.sizes) key += " " + name + "=" + std::to_string(size);
    for (const auto& [op, lag] : spec_.lags) key += " #" + std::to_string(op) + "-" + std::to_string(lag);
    std::error_code ignored;
    const fs::path file(spec_.model);
    const auto changed = fs::last_write_time(file, ignored);
    key +=
        " " + std::to_string(changed.time_since_epoch().count()) + " " + std::to_string(fs::file_size(file, ignored));
    return (fs::path(spec_.folder) / ("one-device-" + hex(digest(key)) + ".bin")).string();
  }

  void fail(std::string reason) {
    result_.status = LaunchStatus::failed;
    result_.failure = LaunchFailure{-1, -1, std::move(reason)};
  }

  LaunchResult launch_phase(const std::string& phase, Processes& processes, const TrialJob& job, int ranks,
                            std::vector<std::string>* reports) {
    LaunchSpec launch_spec{.program = spec_.worker, .ranks = ranks, .job = print(job), .cores = spec_.cores};
    LaunchEvents events;
    events.on_report = [reports](int rank, const std::string& json) {
      if (reports != nullptr) (*reports)[static_cast<std::size_t>(rank)] = json;
    };
    events.on_position = [&](int rank, const Position& position) {
      if (progress_) progress_({phase, rank, position});
    };
    LaunchResult launched = launch(launch_spec, events, stop_, processes, clock_);
    result_.status = launched.status;
    result_.failure = launched.failure;
    return launched;
  }

  bool make_reference() {
    TrialJob job = job_;
    job.task = TrialTask::reference;
    launch_phase("reference", processes_.reference, job, 1, nullptr);
    if (result_.failure) result_.failure->reason = "the one-device run: " + result_.failure->reason;
    return result_.status == LaunchStatus::done;
  }

  void run_ranks() {
    std::vector<std::string> texts(static_cast<std::size_t>(spec_.ranks));
    const LaunchResult launched = launch_phase("trial", processes_.ranks, job_, spec_.ranks, &texts);
    result_.oversubscribed = launched.oversubscribed;
    if (launched.status != LaunchStatus::done) return;
    std::vector<RankReport> reports;
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      Result<RankReport> report = parse_rank_report(texts[rank]);
      if (!report.ok()) {
        fail("rank " + std::to_string(rank) + " gave no report: " + to_string(report.diagnostics));
        return;
      }
      reports.push_back(std::move(*report));
    }
    collect(reports);
  }

  void collect(std::vector<RankReport>& reports) {
    std::set<std::string> seeded;
    TrialCheck check;
    check.equal = true;
    for (RankReport& r : reports) {
      result_.steps.resize(std::max(result_.steps.size(), r.steps.size()));
      for (std::size_t s = 0; s < r.steps.size(); ++s) result_.steps[s] = std::max(result_.steps[s], r.steps[s]);
      result_.cpu.resize(std::max(result_.cpu.size(), r.cpu.size()));
      for (std::size_t s = 0; s < r.cpu.size(); ++s) result_.cpu[s].count += r.cpu[s].count;
      result_.peak.push_back(r.peak);
      result_.resident.push_back(r.resident);
      result_.transport = r.transport;  // all have the same
      if (result_.losses.empty()) result_.losses = r.losses;
      seeded.insert(r.seeded.begin(), r.seeded.end());
      result_.spans.push_back(std::move(r.spans));
      check.compared += r.compared;
      for (const TrialError& e : r.errors) {
        check.equal = check.equal && e.error <= e.allowed;
        if (e.pass == "float64" && (e.error > check.max_relative_error || check.tensor.empty())) {
          check.max_relative_error = e.error, check.tensor = e.tensor, check.what = e.what;
        }
        if (e.pass == "model" && (e.error > check.model_relative_error || check.model_tensor.empty())) {
          check.model_relative_error = e.error, check.model_tensor = e.tensor;
        }
      }
    }
    check.equal = check.equal && check.compared > 0;
    if (spec_.check) result_.check = check;
    result_.seeded.assign(seeded.begin(), seeded.end());
  }

  const TrialSpec& spec_;
  const std::function<void(const TrialProgress&)>& progress_;
  const std::atomic<bool>& stop_;
  TrialProcesses processes_;
  const Clock& clock_;
  TrialJob job_;
  TrialResult result_;
};

}  // namespace

TrialResult run_trial(const TrialSpec& spec, const std::function<void(const TrialProgress&)>& progress,
                      const std::atomic<bool>& stop, TrialProcesses processes, const Clock& clock) {
  return Trial(spec, progress, stop, processes, clock).run();
}

}  // namespace planscope
