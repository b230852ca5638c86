#pragma once
// How much of a causal attention is left where its keys come in blocks. A block of which no query of the device sees a key is
// not worked on; which blocks those are depends on the device and on the indices of the free axes. All devices of a class
// are one to a prediction: the one that sees most.
//
// Share of the pairs (block of queries, block of keys) that are worked on, over all indices of the free axes that cut
// them, on the device that sees most; 1 where the attention is not causal or its keys are whole. Counted pair by pair.
//
//   ring over n devices:    1             the last device sees every block
//   zigzag over n devices:  (2n + 1)/4n   each device sees as many (Zhu, "ring-flash-attention", 2024)
#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

double seen_share(const Graph&, const Program&, const PieceOp&);

}  // namespace planscope
