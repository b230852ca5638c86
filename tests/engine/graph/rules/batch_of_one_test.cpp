// Files that were exported at batch 1, at another batch: which of their ones are the batch.
#include <catch2/catch.hpp>

#include "engine/graph/canonical/canonical.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

using Sizes = std::vector<std::int64_t>;

const char* const whole = "aten::sum.dim_IntList";
std::vector<NamedArgument> reduced(ValueId self, std::vector<std::int64_t> dim) {
  return {{"self", Tensor{self}}, {"dim", std::move(dim)}, {"keepdim", false}, {"dtype", None{}}};
}

Result<Graph> canonical(ModelBuilder& b, ValueId loss) {
  return make_graph(std::make_shared<const Model>(planscope::canonicalize(*b.model(loss))));
}

// Of the view, where the batch is 6: x [1, 5, 8] with dimensions as `order`, viewed as `sizes`.
Sizes viewed(const Sizes& before, const Sizes& order, const Sizes& sizes) {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {1, 5, 8}), 8, false);
  const ValueId turned = b.permute("", b.view("", x, before), order);
  const ValueId made = b.view("", turned, sizes);
  Sizes all;
  for (std::size_t d = 0; d < sizes.size(); ++d) all.push_back(static_cast<std::int64_t>(d));
  const Result<Graph> g = resize(b.graph(b.node("", whole, reduced(made, all), {})), {{"batch", 6}});
  INFO(to_string(g.diagnostics));
  REQUIRE(g.ok());
  return g->sizes(made);
}

}  // namespace

TEST_CASE("a view has the batch where models have it") {
  CHECK(viewed({1, 5, 8}, {0, 1, 2}, {5, 8}) == Sizes{30, 8});        // tokens, features
  CHECK(viewed({1, 5, 8}, {1, 0, 2}, {5, 8}) == Sizes{30, 8});        // tokens first
  CHECK(viewed({1, 5, 8}, {1, 0, 2}, {5, 2, 4}) == Sizes{5, 12, 4});  // batch and heads
  CHECK(viewed({1, 5, 2, 4}, {1, 0, 2, 3}, {5, 2, 4}) == Sizes{5, 12, 4});
  CHECK(viewed({1, 5, 2, 4}, {1, 0, 2, 3}, {5, 8}) == Sizes{30, 8});  // heads come together again
  CHECK(viewed({1, 5, 2, 4}, {0, 2, 1, 3}, {2, 5, 4}) == Sizes{12, 5, 4});
  CHECK(viewed({1, 5, 8}, {1, 2, 0}, {5, 8}) == Sizes{5, 48});
  CHECK(viewed({1, 5, 8}, {1, 0, 2}, {40}) == Sizes{240});
  CHECK(viewed({1, 5, 8}, {1, 0, 2}, {5, 1, 8}) == Sizes{5, 6, 8});
}

TEST_CASE("a mask of the batch is cut with it") {
  for (const bool of_input : {true, false}) {
    ModelBuilder b;
    const ValueId x = b.view("", b.linear("up", b.input("x", {1, 5, 8}), 8, false), {1, 1, 5, 8});
    const ValueId mask =
        of_input ? b.view("", b.input("mask", {1, 5}), {1, 1, 1, 5}) : b.parameter("mask", {1, 1, 5, 5});
    const ValueId y = b.attention("a", x, x, x, 1, false, mask);
    const Graph file = b.graph(b.node("", whole, reduced(y, {0, 1, 2, 3}), {}));
    const Result<Graph> g = resize(file, {{"batch", 6}});
    INFO(to_string(g.diagnostics));
    REQUIRE(g.ok());
    CHECK(g->sizes(y) == Sizes{6, 1, 5, 8});
    CHECK(g->sizes(mask)[0] == (of_input ? 6 : 1));
    for (const Op& op : g->ops)
      for (const Operand& o : op.inputs)
        if (o.tensor == mask && of_input) CHECK(o.map[0].at(0).factor == op.outputs[0].map[0].at(0).factor);
  }
}

TEST_CASE("a range over a batch of one counts the batch") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {1, 5, 8}), 8, false);
  const ValueId rows = b.node(
      "", "aten::arange.default",
      {{"end", std::int64_t{1}}, {"dtype", None{}}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}},
      {1}, DType::i64);
  const ValueId last = b.input("last", {1}, DType::i64);
  const ValueId taken =
      b.node("", "aten::index.Tensor", {{"self", Tensor{x}}, {"indices", std::vector<Tensor>{{rows}, {last}}}}, {1, 8});
  const Result<Graph> g = canonical(b, b.node("", whole, reduced(taken, {0, 1}), {}));
  REQUIRE(g.ok());
  const Result<Graph> other = resize(*g, {{"batch", 6}});
  INFO(to_string(other.diagnostics));
  REQUIRE(other.ok());
  for (const Op& op : other->ops)
    for (const Operand& o : op.outputs)
      if (other->sizes(o.tensor).size() == 1) CHECK(other->sizes(o.tensor) == Sizes{6});
}

TEST_CASE("what would not fit at another batch is refused") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {1, 5, 8}), 8, false);
  const ValueId heads =
      b.permute("", b.view("", b.permute("", x, {1, 0, 2}), {5, 4, 2}), {1, 0, 2});  // batch and heads first
  const ValueId zeros = b.node(
      "m", "aten::zeros",
      {{"size", Sizes{4, 1, 2}}, {"dtype", DType::f32}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}},
      {4, 1, 2});
  const ValueId both = b.node(
      "m", "aten::cat", {{"tensors", std::vector<Tensor>{{heads}, {zeros}}}, {"dim", std::int64_t{1}}}, {4, 6, 2});
  const Result<Graph> other = resize(b.graph(b.node("", whole, reduced(both, {0, 1, 2}), {})), {{"batch", 6}});
  REQUIRE_FALSE(other.ok());
  CHECK(to_string(other.diagnostics).find("m:cat#0: the sizes do not fit; what the operator reads") == 0);
}

TEST_CASE("what is expanded to a batch of one has the batch of what it meets") {
  for (const char* expanding : {"aten::expand", "aten::repeat"}) {
    const bool expands = expanding == std::string("aten::expand");
    ModelBuilder b;
    const ValueId keys = b.linear("keys", b.input("x", {1, 5, 8}), 8, false);
    const ValueId queries =
        b.node("queries", expanding,
               expands ? std::vector<NamedArgument>{{"self", Tensor{b.parameter("queries", {1, 8, 3})}},
                                                    {"size", std::vector<std::int64_t>{1, -1, -1}},
                                                    {"implicit", false}}
                       : std::vector<NamedArgument>{{"self", Tensor{b.parameter("queries", {1, 8, 3})}},
                                                    {"repeats", std::vector<std::int64_t>{1, 1, 1}}},
               {1, 8, 3});
    const ValueId scores = b.node("", "aten::bmm", {{"self", Tensor{keys}}, {"mat2", Tensor{queries}}}, {1, 5, 3});
    const ValueId turned = b.permute("", queries, {0, 2, 1});
    const ValueId again = b.node(
        "", "aten::bmm", {{"self", Tensor{turned}}, {"mat2", Tensor{b.permute("", keys, {0, 2, 1})}}}, {1, 3, 5});
    const ValueId loss =
        b.add("", b.node("", whole, reduced(scores, {0, 1, 2}), {}), b.node("", whole, reduced(again, {0, 1, 2}), {}));
    const Result<Graph> g = make_graph(std::make_shared<const Model>(planscope::canonicalize(*b.model(loss))));
    REQUIRE(g.ok());
    const Result<Graph> other = resize(*g, {{"batch", 6}});
    INFO(to_string(other.diagnostics));
    REQUIRE(other.ok());
    CHECK(other->sizes(scores) == std::vector<std::int64_t>{6, 5, 3});
    CHECK(other->sizes(again) == std::vector<std::int64_t>{6, 3, 5});
  }
}
