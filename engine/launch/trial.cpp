#include "engine/launch/trial.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "engine/base/process_identity.h"
#include "engine/base/replace_file.h"
#include "engine/base/text.h"

namespace planscope {

namespace {

namespace fs = std::filesystem;

struct Removed {
  std::string file;
  ~Removed() {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
};

// A Program's file says whose it is: `program-BOOT-PROCESS-START-…`, the first by its digest.
std::string mark_of_this_machine() { return "program-" + hex(digest(boot_of_this_machine())) + "-"; }

std::string name_of_mine(const std::string& folder) {
  const ProcessIdentity me = this_process();
  std::random_device random;
  const std::string own = std::to_string(me.pid) + "-" + std::to_string(me.start) + "-" + hex(std::uint64_t{random()} << 32 | random());
  return (fs::path(folder) / (mark_of_this_machine() + own + ".json")).string();
}

// What nobody will use: Programs of processes that were killed, one-device runs that were not used for a month.
void remove_leavings(const std::string& folder) {
  constexpr std::chrono::hours long_ago{24 * 30};
  const std::string mark = mark_of_this_machine();
  const auto now = fs::file_time_type::clock::now();
  std::vector<fs::path> leavings;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    const std::string name = it->path().filename().string();
    std::error_code unknown;
    const bool old = now - fs::last_write_time(it->path(), unknown) > long_ago && !unknown;
    bool dead = false;
    if (name.starts_with(mark)) {
      const std::vector<std::string> parts = split(name.substr(mark.size()), '-');
      dead = parts.size() == 3 &&
             !is_alive({boot_of_this_machine(), std::strtoll(parts[0].c_str(), nullptr, 10), std::strtoll(parts[1].c_str(), nullptr, 10)});
    }
    const bool ours = name.starts_with("program-") || name.starts_with("one-device-");
    if (dead || (ours && old)) leavings.push_back(it->path());
  }
  for (const fs::path& file : leavings) fs::remove(file, ec);
}

// When a file was last written, and its size.
std::string state_of(const fs::path& file) {
  std::error_code ignored;
  const auto changed = fs::last_write_time(file, ignored);
  return " " + std::to_string(changed.time_since_epoch().count()) + " " + std::to_string(fs::file_size(file, ignored));
}

class Trial {
 public:
  Trial(const TrialSpec& spec, const std::function<void(const TrialProgress&)>& progress, const std::atomic<bool>& stop,
        TrialProcesses processes, const Clock& clock)
      : spec_(spec), progress_(progress), stop_(stop), processes_(processes), clock_(clock) {
    result_.ranks = spec.ranks;
    job_ = {.model = spec.model,
            .sizes = spec.sizes,
            .program = "",
            .steps = spec.steps,
            .optimizer = spec.optimizer,
            .seed = spec.seed,
            .check = spec.check,
            .reference = reference_path(),
            .inputs = spec.inputs,
            .turn_from = spec.turn_from,
            .turn_to = spec.turn_to,
            .lags = spec.lags};
  }

  TrialResult run() {
    remove_leavings(spec_.folder);
    if (spec_.check && !has_reference() && !make_reference()) return result_;
    job_.program = name_of_mine(spec_.folder);
    const std::string problem = replace_file(job_.program, [&](std::ostream& out) { out << spec_.program; });
    if (!problem.empty()) {
      fail("cannot write '" + job_.program + "': " + problem);
      return result_;
    }
    const Removed whatever_happens{job_.program};
    run_ranks();
    return result_;
  }

 private:
  // An empty one is what a full disk has left. Being used, it counts as new again.
  bool has_reference() const {
    std::error_code ec;
    if (!fs::exists(job_.reference, ec)) return false;
    if (fs::file_size(job_.reference, ec) == 0) return false;
    fs::last_write_time(job_.reference, fs::file_time_type::clock::now(), ec);
    return true;
  }

  // Everything that the one-device run depends on is in its name.
  std::string reference_path() const {
    std::string key = hex(spec_.model_digest) + " " + spec_.model + " " + spec_.optimizer;
    for (const std::int64_t n : {static_cast<std::int64_t>(spec_.steps), static_cast<std::int64_t>(spec_.seed)})
      key += " " + std::to_string(n);
    for (const auto& [name, size] : spec_.sizes) key += " " + name + "=" + std::to_string(size);
    for (const auto& [op, lag] : spec_.lags) key += " #" + std::to_string(op) + "-" + std::to_string(lag);
    key += state_of(spec_.model) + " by " + state_of(spec_.worker) + " inputs " + spec_.inputs;
    if (spec_.inputs.find('/') != std::string::npos) key += state_of(spec_.inputs);  // a file
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
    if (result_.failure) {
      result_.failure->rank = -1;  // none of the trial's
      result_.failure->reason = "the one-device run: " + result_.failure->reason;
    }
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
    double most_exact = 0, most_in_model = 0;  // errors over what is allowed
    for (RankReport& r : reports) {
      result_.steps.resize(std::max(result_.steps.size(), r.steps.size()));
      for (std::size_t s = 0; s < r.steps.size(); ++s) result_.steps[s] = std::max(result_.steps[s], r.steps[s]);
      result_.cpu.resize(std::max(result_.cpu.size(), r.cpu.size()));
      for (std::size_t s = 0; s < r.cpu.size(); ++s) result_.cpu[s].count += r.cpu[s].count;
      result_.peak.push_back(r.peak);
      result_.resident.push_back(r.resident);
      result_.transport = r.transport;  // all have the same
      result_.inputs = r.inputs;
      result_.inputs_note = r.inputs_note;
      if (result_.losses.empty()) result_.losses = r.losses;
      seeded.insert(r.seeded.begin(), r.seeded.end());
      result_.spans.push_back(std::move(r.spans));
      check.compared += r.compared;
      for (const TrialError& e : r.errors) {
        check.equal = check.equal && e.error <= e.allowed;
        if (e.pass == "float64" && check.not_finite.empty()) check.not_finite = e.not_finite;
        const double times = e.error / e.allowed;
        if (e.pass == "float64" && (times > most_exact || check.tensor.empty())) {
          most_exact = times;
          check.max_relative_error = e.error, check.tensor = e.tensor, check.what = e.what;
        }
        if (e.pass == "model" && (times > most_in_model || check.model_tensor.empty())) {
          most_in_model = times;
          check.model_relative_error = e.error, check.model_tensor = e.tensor;
        }
      }
    }
    if (!check.equal) check.not_finite.clear();
    check.equal = check.equal && check.compared > 0 && check.not_finite.empty();
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
