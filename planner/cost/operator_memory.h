#pragma once
// Memory that an operator takes beside its operands and results.
//
// Kept aside: what autograd keeps from forward to backward that is no tensor of the Graph. As LibTorch's operators (and
// engine/runtime's) do it:
// - layer normalization: mean and reciprocal deviation of every row, in float32; rms normalization the latter, the scaled
//   operand if there is a weight that is trained, and the operand in float32 if it has a smaller type; group normalization both of every
//   group; pooling of maxima the position of each; dropout a mask of a byte for each element; recurrent nets gates and states
//   of every step;
// - attention: the log-sum-exp of every row, by products the probabilities instead, and keys and values once more for query
//   heads that share them. Over blocks of keys nothing: what the blocks are joined to gives the weights again. Causal
//   attention over blocks: which keys a query sees, a byte each.
//
// Taken meanwhile: what an operator gives back when it has run forward. A log-sum-exp has the exponentials of so many rows at
// a time as have 16,384 elements (engine/runtime/log_sum_exp.cpp); a grouped product the rows of one group. `saves`: autograd
// saves activations, so that what is kept aside is counted by itself.
//
// Taken backward: what the formula of a gradient makes on its way (LibTorch's derivatives.yaml), up to which a product
// with an operand that it repeats has the product of all elements, or of all matrices, before it sums them.
//
// Composite backward: a formula of several operators frees the gradient of its result, and contributes to the gradient of its
// operand, before its workspace is largest. taken_backward() assumes both: that the former is freed, and that the latter is added
// in place. Where that is not so, the workspace is larger by what is returned here.
//
// Sizes are those that a device holds; uneven splits count as the largest of blocks as equal as possible.
#include "engine/base/units.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

Bytes kept_aside(const Graph&, const PieceOp&);
Bytes taken_meanwhile(const Graph&, const PieceOp&, bool saves = true);
Bytes taken_backward(const Graph&, const PieceOp&);
struct CompositeBackward {
  Bytes result_gradient, contribution;
};
CompositeBackward composite_backward(const Graph&, const PieceOp&);

// Elements of a part of an operand.
std::int64_t local_size(const Graph&, const PieceOp&, const Operand&, int dim, int part);

// How LibTorch and engine/runtime compute attention: by a fused kernel, whose result lies in memory as its query; where that
// does not take it (a mask that has a gradient, other than [batch, heads, positions, size], values of another size than keys)
// by products of copies of its operands; or over blocks of keys.
enum class AttentionKernel : std::uint8_t { none, fused, products, blocks };
AttentionKernel attention_kernel(const Graph&, const PieceOp&);

// The slots that its backward reads. Those of Op::saves, but for attention: products have the probabilities instead of the
// result, the other kernels the mask too. rms normalization of what has no gradient reads the scaled operand alone,
// and that of a smaller type than float32 a copy.
std::vector<int> saved_slots(const Graph&, const PieceOp&);

}  // namespace planscope
