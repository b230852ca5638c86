#pragma once
// Two like pipelines on the same devices in opposite directions (Chimera, Li and Hoefler, SC'21): swapping them, and every
// device with its mirror image, gives the same problem. What is a solution with the second one x later is one with it x
// earlier, so half of the offsets are enough.
//
// Pairs of first tasks (a, b) of two such parts.
#include "planner/search/schedule/links.h"

namespace planscope::schedule {

std::vector<std::pair<int, int>> mirrored_parts(const Problem&, const Links&);

}  // namespace planscope::schedule
