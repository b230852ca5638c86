#pragma once
// Buffers that the forward pass changes (Model::mutations): wherever one is read, the whole of what it is after the step is
// written once a step, and the next step begins when this one has ended.
#include "planner/verify/ledger.h"

namespace planscope::verification {

void check_buffers(const Graph&, const Program&, Ledger&);

}  // namespace planscope::verification
