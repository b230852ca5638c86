#pragma once
// A plan tried for real: runs a trial (engine/launch/trial.h) of materials and keeps it in the
// workspace: the run before it begins, its spans and its result when it ends, however it ends. While another program has the
// workspace, the result waits for it, and then beside it (keep.h): it is never lost. The prediction is that
// of the simulator on the materials' cluster.
//
//   Training t = train(materials, {.worker = "bin/planscope-worker", .folder = "trials"}, &workspace, {}, stop,
//   diagnostics); if (t.trial.status == LaunchStatus::done && t.trial.check->equal) …
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/error_band.h"
#include "app/workbench/materials.h"
#include "engine/launch/joining.h"
#include "engine/launch/trial.h"

namespace planscope {

struct TrainingSpec {
  std::string worker;  // the program `planscope-worker`
  std::string folder;  // made if need be; one-device runs are kept there for the next trial
  int steps = 1;
  std::string optimizer = "sgd";
  std::uint64_t seed = 0;
  std::string inputs = {};  // TrialJob::inputs
  RowId plan = 0;           // the row that the run is of; 0: as recording_of() says
  std::string join = {};  // the ranks are started elsewhere and come through this file (engine/launch/joining.h)
  std::string address = "127.0.0.1";  // where they find this host
  JoinProgress on_join = {};
  std::string workspace = {};             // its file, where it could not be opened at the beginning too; empty: none
  std::function<void()> on_locked = {};  // another program has it: the result waits for up to a minute
};

struct Training {
  TrialResult trial;
  std::optional<double> predicted_us;
  StepFigure figure;                  // of the prediction
  std::string device;                 // that it was predicted for (profiled_device())
  std::string cluster, cluster_digest;  // the same: its name, and the key of its row in the workspace
  std::string optimizer;              // with the next, as it was asked for
  std::uint64_t seed = 0;
  std::string predicted_word = {};  // before the peaks: memory_word()
  std::vector<Bytes> predicted_peak;  // per rank: of its device class, so of the largest block where splits are uneven
  std::vector<std::string> stand_ins;  // operators in whose place another ran: losses are not those of the model
  RowId run = 0;                      // 0: not recorded, not even its beginning
  bool recorded = false;              // its result is in the workspace
};

// Why no Program of the model is run; empty: it can be.
std::string why_not_run(const Model&);

Training train(const Materials&, const TrainingSpec&, Workspace*,
               const std::function<void(const TrialProgress&)>& progress, const std::atomic<bool>& stop,
               std::vector<Diagnostic>&);

// The result as the workspace stores it and `planscope run --json` prints it.
std::string to_json(const Training&);

}  // namespace planscope
