#pragma once
// A trial: a Program run for real on several processes, measured, and compared with the one-device run.
//
// The one-device run is made first, by a worker of its own, and kept in `TrialSpec::folder` under a name that says what
// it depends on, so that other plans for the same model use it again; one that was not used for a month goes, as what
// trials that were killed have left. Numbers: loss, gradients of the first step and
// parameters after the last step in float64 (error ≤ 1e-9), loss and gradients in the model's types (≤ 1e-5 for
// float32; 16-bit types have a wider bound). The error of a tensor is relative to the largest value of its class of
// tensors.
//
//   TrialSpec spec{.worker = "bin/planscope-worker", .folder = "runs/7", .model = "gpt2.pt2", .model_digest = g.digest,
//                  .program = to_json(program), .sizes = program.sizes, .ranks = program.device_count};
//   TrialResult r = run_trial(spec, {}, stop, {processes, processes}, clock);
//   if (r.status == LaunchStatus::failed) …r.failure->reason…
//
// Without LibTorch: what computes is the worker.
#include <functional>
#include <map>

#include "engine/launch/launcher.h"
#include "engine/launch/trial_job.h"

namespace planscope {

struct TrialSpec {
  std::string worker;  // the program `planscope-worker`
  std::string folder;  // exists; the Program, the one-device run are written here
  std::string model;   // path
  std::uint64_t model_digest = 0;
  std::string program;  // Program as JSON text
  std::vector<std::pair<std::string, std::int64_t>> sizes = {};
  int ranks = 1;
  int steps = 1;
  std::string optimizer = "sgd";
  std::uint64_t seed = 0;
  std::string inputs = {};  // TrialJob
  bool check = true;
  std::vector<int> cores = {};                          // empty: all that this process may use
  std::string turn_from = {}, turn_to = {};             // TrialJob
  std::vector<std::pair<int, std::int64_t>> lags = {};  // TrialJob; the program's relaxations
};

struct TrialProgress {
  std::string phase;  // `reference`, `trial`
  int rank = 0;
  Position position;
};

struct TrialCheck {
  bool equal = false;               // every tensor of every rank within what is allowed, and something was compared
  double max_relative_error = 0;    // of the float64 pass
  std::string tensor, what;         // with it
  double model_relative_error = 0;  // of the pass in the model's types
  std::string model_tensor;
  int compared = 0;  // tensors, over all ranks
  // A tensor in which the one-device run in float64 holds an infinity or no number. Then nothing is known of the plan, and
  // `equal` is false. Empty: none, or other tensors differ.
  std::string not_finite = {};
};

struct TrialResult {
  LaunchStatus status = LaunchStatus::failed;
  int ranks = 1;
  std::string transport;            // of the ranks' tensors: "shared memory", "Gloo: <why not shared memory>"
  std::vector<Microseconds> steps;  // of the slowest rank, per measured step
  std::vector<Microseconds> cpu;    // of all ranks together, per measured step
  std::vector<Bytes> peak;          // per rank: tensors alive at once
  std::vector<Bytes> resident;      // per rank: RankReport::resident
  std::vector<double> losses;       // per measured step
  std::optional<TrialCheck> check;
  std::optional<LaunchFailure> failure;
  bool oversubscribed = false;      // ranks shared cores: times are not comparable
  std::vector<std::string> seeded;  // tensors whose first numbers were drawn, not read
  std::string inputs, inputs_note;  // RankReport
  std::vector<SpanList> spans;      // per rank
};

// The one-device run is made by a process of this host; the ranks may be others' (joining.h).
struct TrialProcesses {
  Processes& reference;
  Processes& ranks;
};

TrialResult run_trial(const TrialSpec&, const std::function<void(const TrialProgress&)>& progress,
                      const std::atomic<bool>& stop, TrialProcesses, const Clock&);

}  // namespace planscope
