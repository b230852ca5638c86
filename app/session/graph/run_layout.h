#pragma once
// Asks the program `planscope-layout` for a layout. It is looked for beside the running program, and in `bin`
// beside its folder.
#include "engine/base/diagnostic.h"
#include "viz/graph_layout/layout.h"

namespace planscope::session {

// Errors: the program is not there, fails, or computes for more than 2 s (or, however little, for a minute).
Result<viz::GraphLayout> run_layout(const viz::LayoutRequest&);

}  // namespace planscope::session
