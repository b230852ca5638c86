#pragma once
// Keyed factors (graph.h: Factor): where a rule's own is legal, and how they spread to the operators behind.
//
// What works row by row on rows that can be selected can work on the selected ones: an operator gets a keyed factor of
// its own, under the same name, if an operand has such rows in one whole dimension, the factor of that dimension is free
// and stands whole in every operand that has a part of it, and no argument depends on how many rows there are. So
// `trans experts expert by data` names the activation between two products of the experts too. It ends where rows are
// viewed otherwise: at the sum over the experts of a token.
#include "engine/graph/graph.h"

namespace planscope {

// Factor `factor` selects rows of factor `rows` by input `key`; nothing happens where that is not legal.
void set_key(Graph&, Op&, int factor, std::size_t key, int rows);

// Adds keyed factors to what reads results of operators that have one. Names and marks are final.
void spread_keys(Graph&);

}  // namespace planscope
