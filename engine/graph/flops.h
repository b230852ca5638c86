#pragma once
// How many floating-point operations the forward pass of an operator takes at the graph's sizes.
#include "engine/graph/graph.h"

namespace planscope {

// Products (of matrices, convolutions, recurrent nets) are counted as two for each multiplication with an addition, by
// the sizes of their operands, whatever rule holds for them; any other operator takes one for each element of its results.
void count_flops(Graph&);

}  // namespace planscope
