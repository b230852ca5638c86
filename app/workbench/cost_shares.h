#pragma once
// What of a step's time and memory is whose: every instruction of a Program told to the operator, or the parameter, that it
// is there for.
//
// Time. As the simulator takes it, in microseconds per step on one device: the mean over all devices of the Program. A run
// of a piece is shared among its operators as their own times are. Communication and copies of a tensor are those of the
// operator that makes it, of its gradient too; those of a parameter, its gradient and its update are the parameter's. A
// message with several tensors is shared by their bytes. Communication counts as it is at work, hidden or not.
//
// Memory. What is alive at the peak of the device class that needs most (ClassTimeline::alive; the simulation has to have
// recorded it): values and optimizer states by their tensor, what a piece keeps for backward by which of its operators
// saves how much. `rest`: inputs, constants, messages, what the instruction of the peak itself needs.
//
// The sums are exact up to rounding: all compute shares are the compute time of the simulation, all bytes its peak.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/evaluate/evaluate.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"

namespace planscope {

struct Share {
  double compute_us = 0, communication_us = 0, host_us = 0;
  double update_us = 0;  // of compute_us: the optimizer's step
  double bytes = 0;
  double us() const { return compute_us + communication_us + host_us; }
  Share& operator+=(const Share&);
  Share& operator-=(const Share&);
  void raise_to(const Share&);  // of each part the greater one
};

struct CostShares {
  std::vector<Share> operators;   // by OpId
  std::vector<Share> parameters;  // parallel to Graph::parameters
  Share rest;
  std::map<std::pair<std::string, std::int64_t>, double> communication_us;  // by kind and group, as Traffic
  Share sum() const;
};

CostShares cost_shares(const Evaluation&, const Cluster&);

// The same on one device that runs it, or has it: of each operator and parameter the most in any device class, its memory at the
// peak of that class. Their sums are what one device would need that had them all. Without `rest` and `communication_us`.
CostShares cost_shares_where_run(const Evaluation&, const Cluster&);

// A step as its parts, the mean over all devices in microseconds: they sum to the step.
struct StepParts {
  double compute = 0, warm_up = 0, cool_down = 0, imbalance = 0, data = 0, communication = 0, memory = 0;
  double idle() const { return warm_up + cool_down + imbalance + data + memory; }  // not for collectives
};
StepParts step_parts(const Simulation&);

}  // namespace planscope
