#pragma once
// Operators that differ in nothing but the tensors that they name: those of equal layers. What is decided for one of them
// from its rule, its sizes and its types holds for all.
//
//   alike_operators(g)[a] == alike_operators(g)[b]       the two have equal rules, sizes, types and gradients
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

std::vector<int> alike_operators(const Graph&);  // by operator, numbered by the first of each kind

}  // namespace planscope
