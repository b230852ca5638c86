#pragma once
// Memory that an operator takes beside its operands and results.
//
// Kept aside: what autograd keeps from forward to backward that is no tensor of the Graph. As LibTorch's operators (and
// engine/runtime's) do it:
// - layer normalization: mean and reciprocal deviation of every row, in float32; rms normalization the latter, the scaled
//   operand if there is a weight, and the operand in float32 if it has a smaller type; group normalization both of every
//   group; pooling of maxima the position of each; dropout a mask of a byte for each element; recurrent nets gates and states
//   of every step;
// - attention: the log-sum-exp of every row, by products the probabilities instead, and keys and values once more for query
//   heads that share them. Over blocks of keys nothing: what the blocks are joined to gives the weights again. Causal
//   attention over blocks: which keys a query sees, a byte each.
//
// Taken meanwhile: what an operator gives back when it has run forward. A log-sum-exp has the exponentials of so many rows at
// a time as have 16,384 elements (engine/runtime/log_sum_exp.cpp); a grouped product the rows of one group.
//
// Taken backward: what the formula of a gradient makes on its way (LibTorch's derivatives.yaml), up to which a product
// with an operand that it repeats has the product of all elements, or of all matrices, before it sums them.
//
// Sizes are those that a device holds; uneven splits count as the largest of blocks as equal as possible.
#include "engine/base/units.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

Bytes kept_aside(const Graph&, const PieceOp&);
Bytes taken_meanwhile(const Graph&, const PieceOp&);
Bytes taken_backward(const Graph&, const PieceOp&);

// Elements of a part of an operand.
std::int64_t local_size(const Graph&, const PieceOp&, const Operand&, int dim, int part);

// How LibTorch and engine/runtime compute attention: by a fused kernel, whose result lies in memory as its query; where that
// does not take it (a mask that has a gradient, other than [batch, heads, positions, size], values of another size than keys)
// by products of copies of its operands; or over blocks of keys.
enum class AttentionKernel : std::uint8_t { none, fused, products, blocks };
AttentionKernel attention_kernel(const Graph&, const PieceOp&);

// The slots that its backward reads. Those of Op::saves, but for attention: products have the probabilities instead of the
// result, the other kernels the mask too. rms normalization of what has no gradient reads the scaled operand alone.
std::vector<int> saved_slots(const Graph&, const PieceOp&);

}  // namespace planscope
