#pragma once
// Results of operators whose sizes do not follow from those of their operands: at other sizes than those of the file nobody
// knows what they are (an operator without a rule, windows that slide).
#include <optional>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"

namespace planscope {

// The first one that reads something of another size than the file says, if there is one.
std::optional<Diagnostic> unknown_size(const Graph&);

}  // namespace planscope
