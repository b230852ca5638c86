// Numbers for inputs that nobody gave: what they are, and that a block of them is a block of the whole.
#include "engine/runtime/sample_values.h"

#include <catch2/catch.hpp>

#include "engine/graph/graph.h"

using namespace planscope;

namespace {

// Inputs that index nothing.
Graph graph_of(DType type, const std::vector<std::int64_t>& sizes) {
  auto model = std::make_shared<Model>();
  Value value;
  value.name = "mask";
  value.kind = ValueKind::input;
  value.dtype = type;
  value.sizes = sizes;
  model->values = {value};
  model->inputs = {0};
  const Result<Graph> graph = make_graph(model);
  REQUIRE(graph.ok());
  return *graph;
}

at::Tensor values(const Graph& graph) {
  return sample_value(graph, 0, whole_region(graph, 0), 1, Precision::model);
}

}  // namespace

TEST_CASE("integers that index nothing are small and not all the same, and no row of theirs is empty") {
  const Graph graph = graph_of(DType::i64, {16, 64});
  const at::Tensor drawn = values(graph);
  CHECK(drawn.min().item<std::int64_t>() == 0);
  CHECK(drawn.max().item<std::int64_t>() == 2);
  CHECK(drawn.select(1, 0).eq(1).all().item<bool>());
  for (const std::int64_t v : {0, 1, 2}) CHECK(drawn.eq(v).sum().item<std::int64_t>() > 16 * 64 / 6);
}

TEST_CASE("bools are mostly true, and at the beginning of a row always") {
  const Graph graph = graph_of(DType::boolean, {16, 64});
  const at::Tensor drawn = values(graph);
  CHECK(drawn.select(1, 0).all().item<bool>());
  const double share = drawn.to(at::kDouble).mean().item<double>();
  CHECK(share > 0.65);
  CHECK(share < 0.85);
}

TEST_CASE("a column of integers is not 1 everywhere") {
  CHECK(values(graph_of(DType::i32, {64, 1})).ne(1).any().item<bool>());
  CHECK(values(graph_of(DType::i32, {64})).ne(1).any().item<bool>());
}

TEST_CASE("a block of an input is a block of the whole input") {
  const DType type = GENERATE(DType::i64, DType::boolean, DType::f32);
  const Graph graph = graph_of(type, {6, 10});
  const Region block = {{{2, 5}}, {{3, 10}}};
  CHECK(at::equal(sample_value(graph, 0, block, 1, Precision::model),
                  cut(values(graph), whole_region(graph, 0), block)));
}
