// Operators that keep or allocate less than LibTorch's own, against these: results, gradients, bytes.
#include <catch2/catch.hpp>
#include <cmath>

#include "engine/runtime/autograd.h"
#include "engine/runtime/counting_allocator.h"
#include "engine/runtime/fused_attention.h"
#include "engine/runtime/log_sum_exp.h"
#include "tests/engine/runtime/compare.h"

using namespace planscope;
using testing::check_equal;
using testing::random_leaf;

namespace {

std::int64_t counted_bytes() {
  [[maybe_unused]] static const bool installed = (install_counting_allocator(), true);
  return live_bytes();
}

// The most that `work` has alive at once, beyond what was alive before.
template <typename Work>
std::int64_t most(const Work& work) {
  const std::int64_t before = counted_bytes();
  reset_peak_bytes();
  work();
  return peak_bytes() - before;
}

at::Tensor plain_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask,
                           double scale) {
  const std::int64_t groups = q.size(1) / k.size(1);
  at::Tensor scores = at::matmul(q, k.repeat_interleave(groups, 1).transpose(-2, -1)).mul(scale);
  if (mask.defined())
    scores = mask.scalar_type() == at::kBool ? scores.masked_fill(mask.logical_not(), -INFINITY) : scores.add(mask);
  return at::matmul(scores.softmax(-1), v.repeat_interleave(groups, 1));
}

}  // namespace

TEST_CASE("log-sum-exp over any dimension, in parts or whole") {
  at::manual_seed(1);
  for (const std::int64_t dim : {0, 1, 2, -1}) {
    const at::Tensor x = random_leaf({3, 4, 5});
    check_equal(row_log_sum_exp(x, dim), x.logsumexp(at::IntArrayRef{dim}), {x});
  }
  const at::Tensor many = random_leaf({37, 1000}),
                   wide = random_leaf({2, 40000});  // several parts; a row larger than a part
  check_equal(row_log_sum_exp(many, 1), many.logsumexp(at::IntArrayRef{1}), {many});
  check_equal(row_log_sum_exp(wide, 1), wide.logsumexp(at::IntArrayRef{1}), {wide});
}

TEST_CASE("log-sum-exp of nothing") {
  const at::Tensor nothing = at::full({2, 3}, -INFINITY, at::kDouble);
  CHECK(at::equal(row_log_sum_exp(nothing, 1), at::full({2}, -INFINITY, at::kDouble)));
  CHECK(at::equal(row_log_sum_exp(at::empty({2, 0}, at::kDouble), 1), at::full({2}, -INFINITY, at::kDouble)));
  CHECK(row_log_sum_exp(at::empty({0, 3}, at::kDouble), 1).sizes() == at::IntArrayRef({0}));
}

TEST_CASE("log-sum-exp makes no second tensor of its operand's size") {
  const at::Tensor x = random_leaf({64, 4096});
  at::Tensor y, dx;
  CHECK(most([&] { y = row_log_sum_exp(x, 1); }) < static_cast<std::int64_t>(x.nbytes()) / 4);
  const at::Tensor upstream = at::ones_like(y);
  CHECK(most([&] { dx = torch::autograd::grad({y}, {x}, {upstream})[0]; }) <
        static_cast<std::int64_t>(x.nbytes()) * 5 / 4);
}

TEST_CASE("fused attention, with shared heads and masks") {
  at::manual_seed(2);
  const at::Tensor q = random_leaf({2, 4, 6, 8}), k = random_leaf({2, 2, 6, 8}), v = random_leaf({2, 2, 6, 8});
  const at::Tensor lower = at::ones({6, 6}, at::kBool).tril(), added = at::randn({6, 6}, at::kDouble);
  const auto check = [&](const at::Tensor& mask, bool causal, const at::Tensor& meant) {
    const auto got = fused_attention(q, k, v, mask, causal, 0.3);
    REQUIRE(got.has_value());
    check_equal(*got, plain_attention(q, k, v, meant, 0.3), {q, k, v});
  };
  check({}, false, {});
  check({}, true, lower);
  check(lower, false, lower);
  check(added, false, added);
}

TEST_CASE("attention that the fused kernel does not take is left to others") {
  const at::Tensor q = random_leaf({2, 4, 6, 8}), mask = random_leaf({6, 6});
  CHECK_FALSE(fused_attention(q, q, q, mask, false, 1).has_value());  // a mask with a gradient
  CHECK_FALSE(fused_attention(q[0], q[0], q[0], {}, false, 1).has_value());
}

TEST_CASE("keys and values of shared heads are not kept once more") {
  const at::Tensor q = random_leaf({1, 8, 64, 32}), k = random_leaf({1, 1, 64, 32}), v = random_leaf({1, 1, 64, 32});
  const std::int64_t before = counted_bytes();
  const auto out = fused_attention(q, k, v, {}, true, 1);
  REQUIRE(out.has_value());
  const std::int64_t statistics = 8 * 64 * 8;
  CHECK(counted_bytes() - before <= static_cast<std::int64_t>(out->nbytes()) + statistics + 1024);
}

TEST_CASE("a stand-in leads gradients as its tensor would, without its contents") {
  const at::Tensor data = at::randn({3, 4}, at::kDouble);
  const at::Tensor leaf = stand_in(data);
  CHECK(leaf.requires_grad());
  CHECK(leaf.sizes() == data.sizes());
  CHECK_FALSE(share_storage(leaf, data));
  const at::Tensor seen = behind(leaf, data);
  CHECK(share_storage(seen, data));
  at::Tensor result = seen.mul(seen).mul(2);
  const at::Tensor end = stand_in(result);
  CHECK_FALSE(share_storage(end, result));
  result.reset();
  const at::Tensor upstream = at::randn({3, 4}, at::kDouble);
  CHECK(at::allclose(torch::autograd::grad({end}, {leaf}, {upstream})[0], 4 * data * upstream, 1e-12, 1e-12));
}
