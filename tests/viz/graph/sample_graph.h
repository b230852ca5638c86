#pragma once
// A graph for tests: `embed` → a box `layer` of `norm` → `mlp` (folded), with an edge to the next layer, → `head`. One conversion
// forward on the edge from norm to mlp, one backward on that from embed to norm.
#include "viz/graph/model.h"

namespace planscope::testing {

viz::GraphModel sample_graph();

}  // namespace planscope::testing
