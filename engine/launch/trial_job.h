#pragma once
// What planscope and its workers say about a trial: the job that every rank gets, and the report that every rank gives.
// These are values and their JSON text; trial.h runs a trial, engine/runtime does the work.
//
// A trial has up to two passes over the same first numbers (a model without weights and all inputs are drawn by name
// and index, see TrialJob::seed): `float64`, with every floating type widened, for exact comparison with the one-device
// run
// (`steps` steps, updates included); and `model`, in the model's own types, one step to warm up, whose loss and
// gradients are compared, and then `steps` measured ones.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"
#include "engine/launch/spans.h"

namespace planscope {

// reference: one rank makes the one-device run's file; record: one rank writes what another program needs to make the same
// run (engine/runtime/run_record.h).
enum class TrialTask : std::uint8_t { trial, reference, record };

struct TrialJob {
  TrialTask task = TrialTask::trial;
  std::string model;                                             // path of the model file
  std::vector<std::pair<std::string, std::int64_t>> sizes = {};  // named input dimensions, as in Program::sizes
  std::string program;                                           // path of the Program's JSON
  int steps = 1;
  std::string optimizer = "sgd";  // or `adamw`; constants: engine/runtime/optimizer.h
  std::uint64_t seed = 0;
  bool check = true;
  std::string reference;  // path of the one-device run, or of the record; used if `check`
  // Where the first contents of inputs come from: `archive`, the inputs that the model was exported with; `drawn`; the path of
  // a file of torch.save, with a `/` in it (engine/runtime/given_inputs.h). Empty: the archive's where it has them and they fit, else drawn.
  std::string inputs = {};
  // Every step of the measured pass is a turn (turns.h): pipes that the token comes from and goes to. Empty: none.
  std::string turn_from = {}, turn_to = {};
  // For the one-device run: operators of the Graph that read parameters as they were some updates ago.
  std::vector<std::pair<int, std::int64_t>> lags = {};
  bool operator==(const TrialJob&) const = default;
};
std::string print(const TrialJob&);
Result<TrialJob> parse_trial_job(std::string_view json);

// The largest error of one pass. `what`: `loss`, `gradient`, `parameter`.
struct TrialError {
  std::string pass;  // `float64`, `model`
  double error = 0;  // max|a - b| over the largest value of the tensor's class; infinite: not a number
  double allowed = 0;
  std::string tensor;  // with the largest error; the loss: its name
  std::string what;
  std::string not_finite = {};  // a tensor in which the one-device run holds an infinity or no number; empty: none
  bool operator==(const TrialError&) const = default;
};

struct RankReport {
  std::string transport;            // how ranks exchanged tensors: "shared memory", "Gloo: <why not shared memory>"
  std::vector<Microseconds> steps;  // of the measured pass, from a common start
  std::vector<Microseconds> cpu;    // processor time of the rank in each of them
  Bytes peak;                       // tensors alive at once during a measured step
  Bytes resident;                   // the most memory that the process had then, less what it had before the pass
  std::vector<double> losses;       // of the measured pass; empty where this rank does not have the loss
  std::vector<TrialError> errors;   // one a pass
  int compared = 0;                 // tensors compared with the one-device run
  std::vector<std::string> seeded;  // tensors whose first numbers were drawn
  std::string inputs = {};          // `archive`, `drawn`, or the file that they came from
  std::string inputs_note = {};     // why not all of them; empty: nothing to say
  SpanList spans;                   // of the measured pass
};
std::string print(const RankReport&);
Result<RankReport> parse_rank_report(std::string_view json);

}  // namespace planscope
