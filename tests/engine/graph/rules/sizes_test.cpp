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
