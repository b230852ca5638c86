#pragma once
// Whether every value states a layout that it can have: digits that its place and its indices give, homes that are stored
// whole, gradients only where one flows.
#include "planner/verify/ledger.h"

namespace planscope::verification {

void check_values(const Graph&, const Program&, Ledger&);

}  // namespace planscope::verification
