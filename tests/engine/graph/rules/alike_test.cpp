// Operators that differ in nothing but the tensors that they name (Graph::alike).
#include <catch2/catch.hpp>

#include <map>

#include "engine/graph/alike.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

int number(const Graph& g, const std::string& name) {
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (g.node(o).name() == name) return g.alike[static_cast<std::size_t>(o)];
  FAIL("no operator " << name);
  return -1;
}

}  // namespace

TEST_CASE("operators of equal layers are alike, and rules and sizes of alike ones are equal") {
  const Graph g = transformer({.layers = 4});
  REQUIRE(g.alike.size() == g.ops.size());
  std::map<int, OpId> first;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const OpId like = first.emplace(g.alike[static_cast<std::size_t>(o)], o).first->second;
    const Op &a = g.ops[static_cast<std::size_t>(like)], &b = g.ops[static_cast<std::size_t>(o)];
    INFO(g.node(like).name() << " and " << g.node(o).name());
    CHECK(g.node(like).target == g.node(o).target);
    CHECK(a.rule == b.rule);
    CHECK(a.saves == b.saves);
    CHECK(a.flops == b.flops);
    REQUIRE(a.inputs.size() == b.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
      CHECK(a.inputs[i].map == b.inputs[i].map);
      CHECK(g.sizes(a.inputs[i].tensor) == g.sizes(b.inputs[i].tensor));
      CHECK(g.tensors[static_cast<std::size_t>(a.inputs[i].tensor)].gradient ==
            g.tensors[static_cast<std::size_t>(b.inputs[i].tensor)].gradient);
    }
  }
  CHECK(number(g, "layers.1.mlp.up:linear#0") == number(g, "layers.3.mlp.up:linear#0"));
  CHECK(number(g, "layers.1.mlp.up:linear#0") != number(g, "layers.1.mlp.down:linear#0"));
}

TEST_CASE("arguments tell operators apart, but for floating-point numbers") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 2, 8, 8}), 8, false);
  const ValueId plain = b.attention("plain", x, x, x, 1, false), again = b.attention("again", x, x, x, 1, false);
  const ValueId causal = b.attention("causal", x, x, x, 1, true);
  const ValueId dropped =
      b.dropout("few", b.dropout("many", b.add("sum", plain, b.add("sum", again, causal)), 0.5), 0.1);
  const ValueId flat = b.view("flat", dropped, {64, 8});
  const Graph g = b.graph(b.cross_entropy(b.linear("down", flat, 16, false), b.input("labels", {64}, DType::i64)));
  const std::string name = ":scaled_dot_product_attention#0";
  CHECK(number(g, "plain" + name) == number(g, "again" + name));
  CHECK(number(g, "plain" + name) != number(g, "causal" + name));
  CHECK(number(g, "few:dropout#0") == number(g, "many:dropout#0"));
}

TEST_CASE("operators are numbered again at other sizes") {
  const Graph g = transformer({.batch = 8, .layers = 2});
  const Result<Graph> other = resize(g, {{"batch", 16}});
  REQUIRE(other.ok());
  CHECK(other->alike == alike_operators(*other));
}
