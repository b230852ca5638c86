#pragma once
// Which instance of what it waits for, accumulates or sends an instruction means. Handles are given in the order in which they
// are asked for; of each, Steps::instances and Steps::handle_value.
//
//   Instances instances(program, steps);
//   step.instance = instances.of_value(segment, v);
#include <vector>

#include "engine/program/program.h"
#include "planner/simulate/steps.h"

namespace planscope {

class Instances {
 public:
  Instances(const Program&, Steps& out);  // both outlive it

  Instance of_value(const Segment&, ProgramValueId);
  Instance of_transfer(const Segment&, int transfer);
  // Of what is copied to host memory and back, at the segment's own indices: of what the run of a piece keeps, by its number, or
  // of a state, by the number of pieces and its own.
  Instance of_host_copy(const Segment&, std::size_t what);

 private:
  int handle(ProgramValueId, int& slot);
  Instance instance(const Segment&, ProgramValueId, int handle_of_it) const;

  const Program& program_;
  Steps& out_;
  std::vector<int> handles_;           // by value
  std::vector<int> transfer_handles_;  // by transfer
  std::vector<int> copy_handles_;      // by piece, then by value
};

// Its number in the training step, where a segment runs at this index.
std::int64_t instance_of(const Instance&, const std::vector<std::int64_t>& index);

}  // namespace planscope
