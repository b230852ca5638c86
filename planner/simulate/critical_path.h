#pragma once
// Why a step is as long as it is: the chain of work and communication, from its end back to its beginning, of which each part begins
// when the one before it ends. Needs a simulation with SimulationOptions::gaps; where single instructions are not recorded, a run of a
// segment counts as work as a whole.
//
//   for (const CriticalPart& p : critical_path(simulation)) p.device_class, p.start, p.end
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope {

struct CriticalPart {
  int device_class = 0;              // index
  Stream stream = Stream::compute;
  int slot = -1;                     // index into ClassTimeline::slots; -1: none is known
  int instruction = -1;              // of communication that is recorded alone
  Nanoseconds start = 0, end = 0;
  bool operator==(const CriticalPart&) const = default;
};

// In order of time; the parts follow each other without a hole from 0 to the step's end. Of overlapping steps: of the period shown.
std::vector<CriticalPart> critical_path(const Simulation&);

}  // namespace planscope
