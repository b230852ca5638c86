#pragma once
// Whether all that is counted of a graph at its sizes (bytes, elements) can be: what follows takes sums and products of them.
#include <optional>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"

namespace planscope {

// An error if the tensors come to more than 1 EiB together, with the largest of them.
std::optional<Diagnostic> uncountable(const Graph&);

}  // namespace planscope
