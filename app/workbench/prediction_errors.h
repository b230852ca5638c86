#pragma once
// Predicted against measured, as a tree that sums: the step; in it each device class; of a class what it computes, task
// by task (segments: `f(S[0])`), and of a task what it runs (the operators between which nothing is converted are timed
// as one); what it communicates and waits for others; and what lies between instructions, which a prediction does not
// have.
//
// Times are microseconds of one device in a step: of all runs of a task together, the mean over the devices of a class.
// The parts of a class sum to the step, tasks to what the class computes, operators to their task.
//
//   for (const PredictionError& e : prediction_errors(graph, program, predicted, measured))
//     e.by; e.what; e.predicted_us; e.measured_us   // "task", "f(S[0])", 410.2, 433.0
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"

namespace planscope {

struct PredictionError {
  std::string by;   // step, class, part, task, operators
  int parent = -1;  // its index in the list
  std::string what;
  std::int64_t count = 1;              // runs in a step
  std::optional<double> predicted_us;  // nothing: it is not predicted one by one
  double measured_us = 0;
  int device_class = -1;               // of the Program; -1: of all
  std::vector<OpId> operators = {};    // of tasks and operators, ascending
};

// `measured`: of measured_step.h, of the same Program.
std::vector<PredictionError> prediction_errors(const Graph&, const Program&, const Simulation& predicted,
                                               const Simulation& measured);

}  // namespace planscope
