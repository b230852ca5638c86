#pragma once
// Device classes against each other: whether, each in its own order, all of them reach the end of the step.
//
// A send waits for nothing; a receive waits for the sends of its transfer at its index, in whatever order they were
// sent; a collective waits until all classes that share a communicator of it have come to the same one. Both are
// taken to wait where they are issued, which is stricter than waiting where they are waited for. The devices of a class
// go in step, which is one of the possible executions; whether all complete does not depend on which one is looked at.
#include "planner/verify/order.h"

namespace planscope::verification {

void check_rendezvous(const Graph&, const Program&, const Occupancy&, Ledger&);

}  // namespace planscope::verification
