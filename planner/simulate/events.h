#pragma once
// Plays the slots of all device classes against each other. Classes are advanced in turn, each until it waits for
// something that another has not done yet; times do not depend on the turn, because every stream is first in, first out.
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

// Waiting of a compute stream, by when it happened in the life of its class; idle.h makes causes of it.
struct Waiting {
  Nanoseconds warm_up = 0;        // for data, until the first backward slot begins (none: until the first slot does)
  Nanoseconds steady = 0;         // for data, later
  Nanoseconds cool_down = 0;      // for data, after the last forward slot
  Nanoseconds communication = 0;  // for collectives
  Nanoseconds host = 0;           // for copies from host memory
  Nanoseconds host_tail = 0;      // by which copies to and from it end later than everything else
  bool receives = false;          // waits for data of other classes at all
};

struct Played {
  Simulation simulation;         // without idle time
  std::vector<Waiting> waiting;  // by class
};

Result<Played> play(const Program&, const Steps&, const SimulationOptions&);

}  // namespace planscope
