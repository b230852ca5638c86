#pragma once
// View operators: what they do to dimensions, when they share memory, and how a write through one reaches its base.
#include <optional>
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

// -rank ≤ dim < rank to 0 … rank-1; a 0-dimensional tensor counts as one of rank 1. Nothing: out of range.
std::optional<std::int64_t> wrap_dim(std::int64_t dim, std::size_t rank);

// The dimensions of the result in those of `self` for transpose, permute, t, numpy_T, mT, swapaxes, movedim …; nothing
// for other operators and for arguments that do not fit `rank`.
std::optional<std::vector<std::int64_t>> permutation_of(const Node&, std::size_t rank);
// Whether a permutation takes the conjugate of complex numbers too: `x.mH`, `x.adjoint()`.
bool conjugates(const Node&);
std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& permutation);

// True for view, reshape, flatten, unflatten, squeeze, unsqueeze and others that keep elements and their order.
bool is_reshape(const Node&);

// Whether a tensor of these strides can be seen with other sizes without a copy.
bool can_view(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
              const std::vector<std::int64_t>& result);

// A slice of `size` elements as [start, end) with step, clamped as slicing does.
struct Slice {
  std::int64_t start = 0, end = 0, step = 1;
};
std::optional<Slice> slice_of(const Node&, std::int64_t size);

}  // namespace planscope
