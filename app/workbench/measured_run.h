#pragma once
// A run of the workspace beside the prediction of its plan: its median step as it was measured, and the same step as it
// is predicted now, on the cluster that it was predicted for when it ran, with what the workspace has measured since.
//
//   Result<MeasuredRun> r = measured_run(model, workspace, 7, "local");
//   r->errors; r->measured.step_us(); r->predicted.simulation.step_us()
//
// Errors: there is no such run, it has not ended well (its reason), its spans do not fit its plan, it is of another
// model.
#include <string>
#include <vector>

#include "app/workbench/prediction_errors.h"
#include "app/workbench/workbench.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

struct MeasuredRun {
  RowId run = 0, version = 0;
  std::string plan;             // its name
  std::string text;             // of the version, as plan::print() writes it
  int step = 0;                 // the median one, from 0
  bool oversubscribed = false;  // processes shared cores: times cannot be compared
  Cluster cluster;
  std::string measurements;     // that the prediction starts from, by the name that the workspace gives them
  Evaluation predicted;
  Simulation measured;
  std::vector<PredictionError> errors;
};

// `cluster`: for a run that does not say which one it was predicted for.
Result<MeasuredRun> measured_run(const OpenModel&, const Workspace&, RowId run, const std::string& cluster);

// Of the steps of a run, the index of the one that takes as long as the median (of an even number, the longer of the
// two).
std::size_t median_step(const std::vector<double>& step_us);

}  // namespace planscope
