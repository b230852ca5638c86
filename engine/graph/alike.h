#pragma once
// Operators that differ in nothing but the tensors that they name: those of equal layers. What is decided for one of them,
// or computed from its rule, its sizes, its types and its arguments, holds for all. Arguments that are floating-point numbers
// (a scale, the probability of a dropout) may differ: nothing follows from them but results.
//
//   graph.alike[a] == graph.alike[b]       the two have equal targets, rules, arguments, sizes, types and gradients
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

// By operator, numbered by the first of each kind: Graph::alike. Layouts of rows name the key that selects them (Factor::key):
// operators with other keys are other ones, if it is not `whatever_key`.
std::vector<int> alike_operators(const Graph&, bool whatever_key = false);

}  // namespace planscope
