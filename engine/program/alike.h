#pragma once
// Operators that differ in nothing but the tensors that they name: those of equal layers. What is decided for one of them
// from its rule, its sizes and its types holds for all.
//
//   alike_operators(g)[a] == alike_operators(g)[b]       the two have equal rules, sizes, types and gradients
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

// By operator, numbered by the first of each kind. Layouts of rows name the key that selects them (Factor::key): operators with
// other keys are other ones, if it is not `whatever_key`.
std::vector<int> alike_operators(const Graph&, bool whatever_key = false);

}  // namespace planscope
