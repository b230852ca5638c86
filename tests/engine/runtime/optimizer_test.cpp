#include "engine/runtime/optimizer.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace planscope;

TEST_CASE("a step of an optimizer is its formula, whatever the memory order") {
  at::manual_seed(3);
  const at::Tensor begin = at::randn({5, 7}, at::kDouble);
  const bool transposed = GENERATE(false, true);
  const auto fresh = [&] { return transposed ? begin.t().contiguous().t() : begin.clone(); };
  SECTION("adamw") {
    const OptimizerSettings s = default_settings(OptimizerKind::adamw);
    const at::Tensor p = fresh();
    OptimizerState state(s, p);
    at::Tensor expected = begin.clone(), m = at::zeros_like(begin), v = at::zeros_like(begin);
    for (int t = 1; t <= 5; ++t) {
      const at::Tensor g = at::randn({5, 7}, at::kDouble);
      state.step(s, p, g);
      m = s.beta1 * m + (1 - s.beta1) * g;
      v = s.beta2 * v + (1 - s.beta2) * g * g;
      const at::Tensor mean = m / (1 - std::pow(s.beta1, t)), deviation = (v / (1 - std::pow(s.beta2, t))).sqrt();
      expected = expected - s.rate * (mean / (deviation + s.epsilon) + s.decay * expected);
      CHECK(at::allclose(p, expected, 1e-12, 1e-12));
    }
  }
  SECTION("sgd") {
    const OptimizerSettings s = default_settings(OptimizerKind::sgd);
    const at::Tensor p = fresh();
    OptimizerState state(s, p);
    at::Tensor expected = begin.clone(), v = at::zeros_like(begin);
    for (int t = 1; t <= 5; ++t) {
      const at::Tensor g = at::randn({7, 5}, at::kDouble).t();
      state.step(s, p, g);
      v = s.momentum * v + g;
      expected = expected - s.rate * v;
      CHECK(at::allclose(p, expected, 1e-12, 1e-12));
    }
  }
}

TEST_CASE("a parameter of half width has its state in float32") {
  const OptimizerSettings s = default_settings(OptimizerKind::sgd);
  const at::Tensor p = at::zeros({4}, at::kBFloat16);
  OptimizerState state(s, p);
  for (int t = 0; t < 3; ++t) state.step(s, p, at::ones({4}, at::kBFloat16));
  const double moved = s.rate * (1 + (1 + s.momentum) + (1 + s.momentum + s.momentum * s.momentum));
  CHECK(at::allclose(p.to(at::kDouble), at::full({4}, -moved, at::kDouble), 2e-2, 0));
}

TEST_CASE("a complex parameter is updated as its real and imaginary parts") {
  at::manual_seed(4);
  const OptimizerSettings s = default_settings(GENERATE(OptimizerKind::sgd, OptimizerKind::adamw));
  const at::Tensor begin = at::randn({5, 3}, at::kComplexDouble), p = begin.clone(), q = at::view_as_real(begin).clone();
  OptimizerState whole(s, p), parts(s, q);
  for (int t = 0; t < 3; ++t) {
    const at::Tensor g = at::randn({5, 3}, at::kComplexDouble);
    whole.step(s, p, g);
    parts.step(s, q, at::view_as_real(g));
  }
  CHECK(at::equal(at::view_as_real(p), q));
  CHECK_FALSE(at::equal(p, begin));
}
