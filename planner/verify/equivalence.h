#pragma once
// One transfer rule per instruction: what it makes has the judgement that it states.
#include "planner/verify/ledger.h"
#include "planner/verify/makers.h"

namespace planscope::verification {

// All instructions, except what gradients sum (gradients.h).
void check_instructions(const Graph&, const Program&, const Makers&, Ledger&);

// A trained parameter: what `update` writes.
bool is_updated(const Graph&, TensorId);

}  // namespace planscope::verification
