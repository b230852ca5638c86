#pragma once
// What rows forbid and statements decide, or leave as it is: `forbid trans L recompute`, `trans L recompute`. What follows is
// known when the plan is materialized.
#include "engine/plan/context.h"

namespace planscope::plan {

// Reports, for each such row, the lines of which one has to go. After all statements.
void check_forbidden(Context&);

}  // namespace planscope::plan
