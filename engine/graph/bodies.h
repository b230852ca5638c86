#pragma once
// FLOPs of operators that have sub-graphs: of the larger branch of a `cond`, of one round of a `while_loop` (how many there
// are depends on data), of all rounds of a `scan`, `associative_scan` or `map`.
#include "engine/graph/graph.h"

namespace planscope {

double body_flops(const Model&, const Node&);

}  // namespace planscope
