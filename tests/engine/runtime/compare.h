#pragma once
// Results and gradients of one implementation against those of another, in float64.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/runtime/tensor_types.h"

namespace planscope::testing {

inline at::Tensor random_leaf(at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble).requires_grad_(); }

inline void check_equal(const at::Tensor& got, const at::Tensor& expected, const TensorList& leaves) {
  REQUIRE(got.sizes() == expected.sizes());
  CHECK(at::allclose(got, expected, 1e-12, 1e-12));
  const at::Tensor upstream = at::randn(got.sizes(), at::kDouble);
  const auto mine = torch::autograd::grad({got}, leaves, {upstream});
  const auto theirs = torch::autograd::grad({expected}, leaves, {upstream});
  for (std::size_t i = 0; i < leaves.size(); ++i) CHECK(at::allclose(mine[i], theirs[i], 1e-12, 1e-12));
}

}  // namespace planscope::testing
