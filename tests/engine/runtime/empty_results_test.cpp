// Operators over blocks without elements: what has empty results is not called, what sums over nothing is.
#include "engine/runtime/empty_results.h"

#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/runtime/operator_shard.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

Graph graph_of(const std::string& text) {
  Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(text)));
  REQUIRE(graph.value);
  return *graph;
}

const Region no_rows = {{{4, 4}}, {{0, 6}}};

}  // namespace

TEST_CASE("a Fourier transform of no rows gives no rows, and a gradient without elements") {
  const Graph graph = graph_of(
      "input %0 x: float64[4,6]\n"
      ":fft_rfft#0 %1: complex128[4,4] = aten::fft_rfft(self=%0, n=none, dim=-1, norm=none)\n"
      "output %1\n");
  const at::Tensor x = at::empty({0, 6}, at::kDouble).requires_grad_();
  const TensorList y = OperatorShard(graph, 0, {no_rows}, {{{{4, 4}}, {{0, 4}}}})({x});
  REQUIRE(y.size() == 1);
  CHECK(y[0].sizes() == at::IntArrayRef({0, 4}));
  CHECK(y[0].scalar_type() == at::kComplexDouble);
  const at::Tensor gradient = torch::autograd::grad({y[0]}, {x}, {at::zeros_like(y[0])})[0];
  CHECK(gradient.sizes() == x.sizes());
  CHECK(gradient.scalar_type() == at::kDouble);
}

TEST_CASE("the gradient of a weight that multiplies no rows is zero") {
  const Graph graph = graph_of(
      "input %0 x: float64[4,6]\n"
      "parameter %1 w: float64[3,6]\n"
      ":linear#0 %2: float64[4,3] = aten::linear(input=%0, weight=%1, bias=none)\n"
      "output %2\n");
  const Region weight = {{{0, 3}}, {{0, 6}}}, result = {{{4, 4}}, {{0, 3}}};
  REQUIRE(has_empty_results(graph, graph.ops[0], {result}));
  const at::Tensor x = at::empty({0, 6}, at::kDouble), w = at::full({3, 6}, INFINITY, at::kDouble).requires_grad_();
  const at::Tensor y = OperatorShard(graph, 0, {no_rows, weight}, {result})({x, w})[0];
  CHECK(y.sizes() == at::IntArrayRef({0, 3}));
  CHECK(at::equal(torch::autograd::grad({y}, {w}, {at::zeros_like(y)})[0], at::zeros({3, 6}, at::kDouble)));
}

TEST_CASE("what comes to numbers from no elements is computed") {
  const Graph graph = graph_of(
      "input %0 x: float64[4,6]\n"
      ":sum#0 %1: float64[6] = aten::sum.dim_IntList(self=%0, dim=[0], keepdim=false, dtype=none)\n"
      "output %1\n");
  const Region sums = {{{0, 6}}};
  CHECK_FALSE(has_empty_results(graph, graph.ops[0], {sums}));
  const at::Tensor y = OperatorShard(graph, 0, {no_rows}, {sums})({at::empty({0, 6}, at::kDouble)})[0];
  CHECK(at::equal(y, at::zeros({6}, at::kDouble)));
}

TEST_CASE("results of integers have no gradient") {
  const Graph graph = graph_of(
      "input %0 x: float64[4,6]\n"
      ":argmax#0 %1: int64[4] = aten::argmax(self=%0, dim=1, keepdim=false)\n"
      "output %1\n");
  const at::Tensor x = at::empty({0, 6}, at::kDouble).requires_grad_();
  const at::Tensor y = OperatorShard(graph, 0, {no_rows}, {{{{4, 4}}}})({x})[0];
  CHECK(y.scalar_type() == at::kLong);
  CHECK(y.numel() == 0);
  CHECK_FALSE(y.requires_grad());
}
