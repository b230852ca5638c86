// Inner dimensions are found by what operators compute.
#include "engine/graph/inner.h"

#include <catch2/catch.hpp>

#include "engine/base/text.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;
using planscope::testing::transformer;

namespace {

// `layers.0.w1:out layers.0.w2:in …`, of one layer alone.
std::string inner(const Graph& g) {
  const std::vector<int> found = inner_factors(g);
  std::vector<std::string> out;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (found[static_cast<std::size_t>(o)] >= 0)
      out.push_back(g.node(o).module + ":" +
                    g.ops[static_cast<std::size_t>(o)].factors[static_cast<std::size_t>(found[static_cast<std::size_t>(o)])].name);
  return join(out, " ");
}

Graph finished(ModelBuilder& b, ValueId x) {
  return b.graph(b.cross_entropy(b.linear("head", x, 12, false), b.input("labels", {4}, DType::i64)));
}

}  // namespace

TEST_CASE("attention by heads, feed-forward by its width, whatever modules are called") {
  CHECK(inner(transformer({.layers = 1})) ==
        "layers.0.attn.q:out layers.0.attn.k:out layers.0.attn.v:out layers.0.attn:heads layers.0.attn.o:in "
        "layers.0.mlp.up:out layers.0.mlp.down:in");
  CHECK(inner(transformer({.layers = 1, .gated = true})).ends_with(
      "layers.0.mlp.up:out layers.0.mlp.gate:out layers.0.mlp.down:in"));
}

TEST_CASE("the residual stream is no inner dimension, and of two that meet the larger one is") {
  ModelBuilder b;
  ValueId x = b.linear("stem", b.input("x", {4, 20}), 16, false);
  for (const std::string at : {"blocks.0", "blocks.1"}) {
    const ValueId low = b.linear(at + ".adapter.up", b.linear(at + ".adapter.down", x, 2, false), 64, false);
    const ValueId up = b.add(at, low, b.linear(at + ".wide", x, 64, false));
    x = b.add(at, x, b.linear(at + ".narrow", b.gelu(at, up), 16, false));
  }
  CHECK(inner(finished(b, x)) ==
        "blocks.0.adapter.up:out blocks.0.wide:out blocks.0.narrow:in blocks.1.adapter.up:out blocks.1.wide:out "
        "blocks.1.narrow:in");
}

TEST_CASE("a chain of products alternates") {
  ModelBuilder b;
  ValueId x = b.input("x", {4, 8});
  for (const auto& [name, out] : {std::pair("a", 8), std::pair("b", 32), std::pair("c", 8), std::pair("d", 8)})
    x = b.gelu(name, b.linear(name, x, out, false));
  CHECK(inner(finished(b, x)) == "b:out c:in d:out head:in");
}
