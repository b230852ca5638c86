// Graphs at other sizes than those of the file.
#include <catch2/catch.hpp>

#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

// x [4, 8] through one operator to [4, n], and a loss of it.
Graph through(const std::string& target, std::int64_t n) {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 8}), 8, false);
  const ValueId y = b.node("m", target, {{"self", Tensor{x}}}, {4, n});
  return b.graph(b.cross_entropy(b.linear("down", y, 16, false), b.input("labels", {4}, DType::i64)));
}

}  // namespace

TEST_CASE("what an operator without a rule makes at another size is not known") {
  const Graph g = through("mine::op", 8);
  CHECK(resize(g, {{"batch", 4}}).ok());
  const Result<Graph> other = resize(g, {{"batch", 32}});
  REQUIRE_FALSE(other.ok());
  CHECK(to_string(other.diagnostics) ==
        "m:op#0: the sizes do not fit; the operator makes what it made of the exported sizes; it reads 32 where "
        "the "
        "file has 4; export the model with the sizes that you want\n");
}

TEST_CASE("what follows from sizes follows them") {
  const Result<Graph> other = resize(through("aten::relu", 8), {{"batch", 32}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  for (const Op& op : other->ops)
    for (const Operand& o : op.outputs)
      if (other->sizes(o.tensor).size() == 2) CHECK(other->sizes(o.tensor)[0] == 32);
}

TEST_CASE("another scalar output may be the loss") {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8}), labels = b.input("labels", {4}, DType::i64);
  const ValueId first = b.cross_entropy(b.linear("a", x, 8, false), labels);
  const ValueId second = b.cross_entropy(b.linear("b", x, 8, false), labels);
  Model both = *b.model(first);
  both.outputs = {first, second, first};
  both.output_names = {"main", "aux", "again"};
  CHECK(scalar_outputs(both) == std::vector<std::size_t>{0, 1});
  const Result<Graph> g = make_graph(std::make_shared<const Model>(both));
  REQUIRE(g.ok());
  const auto trained = [](const Graph& graph) {
    std::string out;
    for (const Parameter& p : graph.parameters)
      if (p.trained) out += graph.tensor_name(p.tensor) + " ";
    return out;
  };
  CHECK(trained(*g) == "a.weight ");
  const Result<Graph> other = resize(*g, {{"loss", 1}, {"batch", 8}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  CHECK(trained(*other) == "b.weight ");
  CHECK(other->model->loss == second);
  CHECK(other->sizes(x)[0] == 8);
  CHECK(other->digest != resize(*g, {{"batch", 8}})->digest);
  CHECK(to_string(resize(*g, {{"loss", 2}}).diagnostics) == "no scalar output 2; the model has main, aux\n");
}
