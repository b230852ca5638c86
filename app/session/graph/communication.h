#pragma once
// What a plan communicates, told to the operators between which it does: whatever moves a tensor, or its gradient, from the layout in
// which it is made to that in which it is read. Every message of a step is in it once, in the sums in which `simulate` counts: over
// all device classes, each counted once.
//
//   double bytes = 0;
//   for (const Communication& c : communications(evaluation, cluster)) bytes += c.bytes;
//   // the sum of evaluation.simulation.traffic()
//
// Time: proportional to the instructions of the Program and the blocks that the simulation has recorded.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "planner/evaluate/evaluate.h"

namespace planscope::session {

struct Communication {
  std::string kind;        // `all_reduce`, …, `send`
  std::int64_t group = 1;  // devices that take part in one
  OpId from = -1;          // makes the tensor; -1: it is a parameter, or comes from outside
  OpId to = -1;            // reads it, of several the first; -1: nothing does
  TensorId tensor = -1;
  bool gradient = false;
  double count = 0;   // in a step; of a message with several tensors a share
  double bytes = 0;   // payload per device (planner/cost/communication_cost.h)
  double us = 0;      // that the links are at work, as they share them with others
  double exposed_us =
      -1;  // of these: while the compute stream waits for it (app/workbench/communication_times.h); -1: not known
};

std::vector<Communication> communications(const Evaluation&, const Cluster&);

}  // namespace planscope::session
