#pragma once
// Memory that an operator takes beside its operands and results.
//
// Kept aside: what autograd keeps from forward to backward that is no tensor of the Graph. As LibTorch's operators (and
// engine/runtime's) do it:
// - layer normalization: mean and reciprocal deviation of every row, in float32; rms normalization the latter, the scaled
//   operand if there is a weight, and the operand in float32 if it has a smaller type; group normalization both of every
//   group; pooling of maxima the position of each;
// - attention: the log-sum-exp of every row; with a mask that has a gradient, which the fused kernels do not take, the
//   probabilities instead, and keys and values once more for query heads that share them. Over blocks of keys nothing: what
//   the blocks are joined to gives the weights again. Causal attention over blocks: which keys a query sees, a byte each.
//
// Taken meanwhile: what an operator gives back when it has run forward. A log-sum-exp has the exponentials of so many rows at
// a time as have 16,384 elements (engine/runtime/log_sum_exp.cpp).
//
// Sizes are those that a device holds; uneven splits count as the largest of blocks as equal as possible.
#include "engine/base/units.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

Bytes kept_aside(const Graph&, const PieceOp&);
Bytes taken_meanwhile(const Graph&, const PieceOp&);

// Elements of a part of an operand.
std::int64_t local_size(const Graph&, const PieceOp&, const Operand&, int dim, int part);

// Attention that a fused kernel computes: its result lies in memory as its query.
bool is_fused_attention(const Graph&, const PieceOp&);

}  // namespace planscope
