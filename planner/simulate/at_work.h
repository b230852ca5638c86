#pragma once
// What an instruction takes and gives back while it runs, as rows of what is alive: what it works with, and, where it frees
// more than it takes, what of the owners that end with it is left.
//
//   for (const MemoryChange& c : at_work(step)) alive[{c.of, c.kind}] += c.bytes;   // they sum to the step's transients
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

std::vector<MemoryChange> at_work(const Step&);

}  // namespace planscope
