#pragma once
// Which slots of a piece share memory. A view has the storage of what it views, unless it is a reshape for which the
// elements do not lie right: then LibTorch copies. So for each slot this follows in which order its parts lie in memory:
//
//   q      batch seq heads d      in order
//   q'     batch heads seq d      permute: lies as `batch seq heads d`, the storage of q
//   out    batch heads seq d      attention: lies as its query
//   out'   batch seq heads d      permute: in order again, the storage of out
//   flat   batch seq (heads d)    view: heads and d lie side by side: the storage of out
//
// Had the query been made by `cat`, it would lie as `batch heads seq d`, and `flat` were a copy. What is expanded has
// no place in memory of its own; a block of a slice does not lie beside what was around it. Elementwise results lie as
// their first operand of the same sizes; all others, and the leaves, lie in order. Parts of local size 1 lie anywhere.
//
// Products want matrices, or lists of them: of an operand whose other dimensions do not lie as one they have a copy, which is
// what their backward reads. Where it has fewer matrices than the result the copy has each as often as it is multiplied. An
// einsum is such a product of operands whose dimensions it turns, and its result lies as that of the product (einsum_groups.h).
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

struct StorageRoots {
  std::vector<int> storage;   // slot -> the first slot with its storage
  std::vector<int> gradient;  // the same for gradients: a copy's gradient is a view of the gradient that comes
  std::vector<std::vector<int>> copied;  // by operator: slots that it copies, as often as the copy has each of their elements
  // By operator: a reshape, a product of more than two dimensions, or an einsum, whose backward copies the gradient of its result
  // where that does not lie as it wants: given for the piece's result, by an einsum, or spread over what a sum has summed, and come
  // through views, sums and operators of elements since.
  std::vector<char> puts_in_order;
};

// Whether it is a sum along dimensions, of which each element of the operand has the gradient of a sum: a view, of no bytes.
bool spreads_gradient(const Graph&, OpId);
// Whether an operand of as many elements as the result has the result's gradient itself: of sums, and of what is subtracted from.
bool hands_gradient_on(const Graph&, OpId, std::size_t operand);

StorageRoots storage_roots(const Graph&, const Piece&);

}  // namespace planscope
