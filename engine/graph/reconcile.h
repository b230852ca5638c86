#pragma once
// Where later operators have cut one dimension in two ways that do not fit, a rule's factors no longer say what an operand's
// dimension consists of. What is common to both in front and behind stays with its factors; the span between is frozen, in
// this dimension and wherever the factors' parts stand.
#include "engine/graph/graph.h"

namespace planscope {

// `op` over the classes of the graph's tensors. False: a factor that selects rows is concerned, and nothing of it holds.
bool reconcile(const Graph&, Op& op);

// Nothing of the operator may be split.
void freeze(const Graph&, Op& op);

}  // namespace planscope
