#pragma once
// Which contributions every gradient sums, and whether what the step is for is there: the loss, and an update of every
// trained parameter from its whole gradient, added in the same order wherever the parameter is stored.
#include "planner/verify/makers.h"
#include "planner/verify/pieces.h"

namespace planscope::verification {

void check_gradients(const Graph&, const Program&, const Makers&, Ledger&);
void check_goals(const Graph&, const Program&, Ledger&);

}  // namespace planscope::verification
