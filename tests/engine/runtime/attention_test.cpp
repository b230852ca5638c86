// Attention in blocks of keys against attention as a whole: results and gradients.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/runtime/attention.h"

using namespace planscope;

namespace {

constexpr double kTolerance = 1e-12;

AttentionOperands operands(std::int64_t queries, std::int64_t keys) {
  at::manual_seed(3);
  const auto random = [](at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble).requires_grad_(); };
  return {random({2, 4, queries, 8}), random({2, 2, keys, 8}), random({2, 2, keys, 5}), {}, 0.3};
}

TensorList leaves(const AttentionOperands& a) {
  TensorList out{a.query, a.key, a.value};
  if (a.mask.defined() && a.mask.requires_grad()) out.push_back(a.mask);
  return out;
}

AttentionOperands block(const AttentionOperands& a, std::int64_t begin, std::int64_t size) {
  return {a.query, a.key.narrow(-2, begin, size), a.value.narrow(-2, begin, size),
          a.mask.defined() ? a.mask.narrow(-1, begin, size) : a.mask, a.scale};
}

// The blocks in the given order, joined; their gradients added up.
void compare(const AttentionOperands& a, const std::vector<std::pair<std::int64_t, std::int64_t>>& blocks) {
  const at::Tensor expected = whole_attention(a, false), upstream = at::randn(expected.sizes(), at::kDouble);
  const TensorList wanted = torch::autograd::grad({expected}, leaves(a), {upstream});
  std::vector<std::shared_ptr<TensorList>> wholes;
  TensorList parts;
  at::Tensor results, log_sums;
  for (const auto& [begin, size] : blocks) {
    wholes.push_back(std::make_shared<TensorList>());
    const TensorList made = block_attention(block(a, begin, size), wholes.back());
    parts.push_back(made[0]);
    if (results.defined()) {
      join_block(results, log_sums, made[0].detach(), made[1].detach());
    } else {
      results = made[0].detach().clone();
      log_sums = made[1].detach().clone();
    }
  }
  CHECK(at::allclose(results, expected, kTolerance, kTolerance));
  for (const auto& whole : wholes) *whole = {results, log_sums};
  const TensorList got = torch::autograd::grad(parts, leaves(a), TensorList(parts.size(), upstream));
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO("gradient " << k);
    CHECK(at::allclose(got[k], wanted[k], kTolerance, kTolerance));
  }
}

}  // namespace

TEST_CASE("blocks of keys, joined in any order, are the whole") {
  compare(operands(6, 12), {{4, 4}, {8, 4}, {0, 4}});
  compare(operands(6, 7), {{0, 1}, {6, 1}, {1, 5}});
}

TEST_CASE("a block that a query does not see adds nothing to it") {
  AttentionOperands a = operands(8, 8);
  a.mask = causal_mask({}, at::arange(8), at::arange(8));
  compare(a, {{4, 4}, {0, 4}});  // the first queries see none of the first block
}

TEST_CASE("numbers that are added to the scores have a gradient") {
  AttentionOperands a = operands(4, 6);
  a.mask = at::randn({4, 1, 6}, at::kDouble).requires_grad_();
  compare(a, {{0, 3}, {3, 3}});
}

TEST_CASE("a causal mask is counted in positions") {
  const at::Tensor whole = causal_mask({}, at::arange(6), at::arange(6));
  CHECK(at::equal(whole, at::ones({6, 6}, at::kBool).tril()));
  CHECK(at::equal(causal_mask({}, at::arange(2, 4), at::arange(3, 6)), whole.slice(0, 2, 4).slice(1, 3, 6)));
}

TEST_CASE("the backward of a block waits for the whole") {
  const AttentionOperands a = operands(4, 4);
  const TensorList made = block_attention(a, std::make_shared<TensorList>());
  CHECK_THROWS(torch::autograd::grad({made[0]}, {a.query}, {at::ones_like(made[0])}));
}

TEST_CASE("a block of which no query sees a key contributes nothing") {
  AttentionOperands a = operands(4, 8);
  a.mask = causal_mask({}, at::arange(4), at::arange(8));
  compare(a, {{0, 4}, {4, 4}});
  compare(a, {{6, 2}, {0, 6}});
}
