#pragma once
// How old trained parameters are where operators read them, and whether the plan says so.
//
// The age of a stored parameter is its lag; moves, sends and refills keep it. What an operator reads must be as old as
// Program::relaxations says for it (0: nothing said).
#include <vector>

#include "planner/verify/makers.h"

namespace planscope::verification {

// One for each place and age; empty if every parameter is the newest and nothing says otherwise.
std::vector<Staleness> check_staleness(const Graph&, const Program&, const Makers&, Ledger&);

}  // namespace planscope::verification
