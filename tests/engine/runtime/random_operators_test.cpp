// Random operators: a block of what is drawn is a block of the whole, and what is drawn again is the same.
#include "engine/runtime/random_operators.h"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/runtime/counting_allocator.h"
#include "engine/runtime/operator_shard.h"
#include "engine/runtime/random_numbers.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

const std::vector<std::vector<std::int64_t>> whole = {{6}, {4, 8}};
const Region everything = {{{0, 6}}, {{0, 4}, {0, 8}}};

Node node(const std::string& target, std::vector<NamedArgument> arguments) {
  Node n;
  n.target = target;
  n.arguments = std::move(arguments);
  return n;
}

at::Tensor draw(const Node& n, const Region& region, const TensorList& in, std::uint64_t key = 7) {
  const auto run = drawn_by_element(n, {key, whole, region}, at::kDouble);
  REQUIRE(run);
  return (*run)(in)[0];
}

Node dropout(double p) { return node("aten::dropout", {{"input", Tensor{0}}, {"p", p}, {"train", true}}); }

}  // namespace

TEST_CASE("a block of what is drawn is a block of the whole") {
  const Node n = GENERATE(dropout(0.4), node("aten::rand", {}),
                          node("aten::randint.low", {{"low", std::int64_t{-3}}, {"high", std::int64_t{9}}}),
                          node("aten::randn_like", {{"self", Tensor{0}}}),
                          node("aten::uniform", {{"self", Tensor{0}}, {"from", 2.0}, {"to", 3.0}}),
                          node("aten::bernoulli.p", {{"self", Tensor{0}}, {"p", 0.4}}),
                          node("aten::bernoulli", {{"self", Tensor{0}}}));
  INFO(n.target);
  const at::Tensor x = at::rand({6, 32}, at::kDouble);
  const at::Tensor all = draw(n, everything, {x});
  CHECK(at::equal(all, draw(n, everything, {x})));
  CHECK_FALSE(at::equal(all, draw(n, everything, {x}, 8)));
  const Region block = {{{2, 5}}, {{1, 3}, {0, 8}}};
  CHECK(at::equal(draw(n, block, {cut(x, everything, block)}), cut(all, everything, block)));
}

TEST_CASE("what is drawn is spread as it should be") {
  const std::vector<std::vector<std::int64_t>> many = {{100000}};
  const Region all = {{{0, 100000}}};
  const at::Tensor x = at::full({100000}, 0.3, at::kDouble);
  const auto mean = [&](const Node& n) {
    return (*drawn_by_element(n, {1, many, all}, at::kDouble))({x})[0].mean().item<double>();
  };
  CHECK(mean(dropout(0.1)) == Approx(0.3).epsilon(0.01));
  CHECK(mean(dropout(1)) == 0);
  CHECK(mean(node("aten::randint.low", {{"low", std::int64_t{-3}}, {"high", std::int64_t{8}}})) ==
        Approx(2).margin(0.05));
  CHECK(mean(node("aten::uniform", {{"self", Tensor{0}}, {"from", 2.0}, {"to", 3.0}})) == Approx(2.5).epsilon(0.01));
  CHECK(mean(node("aten::bernoulli.p", {{"self", Tensor{0}}, {"p", 0.7}})) == Approx(0.7).epsilon(0.01));
  CHECK(mean(node("aten::bernoulli", {{"self", Tensor{0}}})) == Approx(0.3).epsilon(0.02));
}

TEST_CASE("dropout's backward drops the same elements, and nothing is kept for it") {
  install_counting_allocator();
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const at::Tensor x = at::rand({6, 32}).add(1).to(type).requires_grad_();
    const std::int64_t before = live_bytes();
    const at::Tensor y = draw(dropout(0.4), everything, {x});
    CHECK(live_bytes() - before == y.numel() * static_cast<std::int64_t>(y.element_size()));
    const at::Tensor mask = y.detach().ne(0).to(type).div(1 - 0.4), upstream = at::rand({6, 32}).to(type);
    CHECK(mask.eq(0).any().item<bool>());
    CHECK(at::allclose(y, x * mask, 1e-2));
    CHECK(at::allclose(torch::autograd::grad({y}, {x}, {upstream})[0], upstream * mask, 1e-2));
  }
}

TEST_CASE("what draws for its whole result is seeded, and not split") {
  Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
      "parameter %0 x: float64[6,4]\n"
      ":feature_dropout#0 %1: float64[6,4] = aten::feature_dropout(input=%0, p=0.5, train=true) random\n"
      "output %1\n")));
  REQUIRE(graph.value);
  const at::Tensor x = at::rand({6, 4}, at::kDouble);
  at::manual_seed(1);
  const at::Tensor next = at::rand({3});
  at::manual_seed(1);
  const at::Tensor y = OperatorShard::whole(*graph, 0, {Precision::model, 5})({x})[0];
  CHECK(at::equal(at::rand({3}), next));  // others' draws are what they were
  CHECK(at::equal(OperatorShard::whole(*graph, 0, {Precision::model, 5})({x})[0], y));
  CHECK_FALSE(at::equal(OperatorShard::whole(*graph, 0, {Precision::model, 6})({x})[0], y));
  const Region half = {{{0, 3}}, {{0, 4}}};
  CHECK_THROWS_WITH(OperatorShard(*graph, 0, {half}, {half}),
                    "aten::feature_dropout draws for its whole result, and is split");
}
