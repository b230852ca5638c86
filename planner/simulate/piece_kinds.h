#pragma once
// Pieces that differ in nothing but the tensors that they name: those of equal layers. What follows from operators, layouts
// and sizes of one of them (how long it takes, what memory it needs) holds for all.
//
//   piece_kinds(graph, program)[a] == piece_kinds(graph, program)[b]
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

// By piece, numbered by the first of each kind.
std::vector<int> piece_kinds(const Graph&, const Program&);

}  // namespace planscope
