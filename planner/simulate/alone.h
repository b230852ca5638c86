#pragma once
// How long each segment takes by itself: everything that it reads from elsewhere is there, and no other segment's
// communication is before its own. Of the steps that every run has.
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

std::vector<Nanoseconds> times_alone(const Steps&);  // by segment

}  // namespace planscope
