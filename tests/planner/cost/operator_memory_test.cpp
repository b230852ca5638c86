// What operators take beside the tensors of the Graph.
#include "planner/cost/operator_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

// The piece's operator of this kind, not split.
PieceOp find(const Graph& g, const std::string& kind) {
  PieceOp found;
  for (std::size_t i = 0; i < g.ops.size() && found.op < 0; ++i)
    if (g.node(static_cast<int>(i)).kind == kind) found.op = static_cast<int>(i);
  REQUIRE(found.op >= 0);
  return found;
}

// q: 2 x 4 heads x 6 rows x 8, two heads of keys and values; the mask, if it is one, is a parameter.
Graph attention(bool with_mask, bool causal = false) {
  ModelBuilder b;
  const ValueId q = b.parameter("q", {2, 4, 6, 8}), k = b.parameter("k", {2, 2, 6, 8}),
                v = b.parameter("v", {2, 2, 6, 8});
  const ValueId mask = with_mask ? b.parameter("mask", {6, 6}) : -1;
  const ValueId y = b.attention("attn", q, k, v, 2, causal, mask);
  return b.graph(b.cross_entropy(y, b.input("labels", {2, 4, 6}, DType::i64)));
}

}  // namespace

TEST_CASE("attention keeps a number for each row") {
  const Graph g = attention(false);
  CHECK(kept_aside(g, find(g, "scaled_dot_product_attention")).count == 4 * 2 * 4 * 6);
}

TEST_CASE("with a trained mask attention keeps its probabilities, and keys and values for each head") {
  const Graph g = attention(true);
  CHECK(kept_aside(g, find(g, "scaled_dot_product_attention")).count ==
        4 * (2 * 4 * 6 * 6) + 2 * 4 * (2 * (4 - 2) * 6 * 8));
}

TEST_CASE("over blocks of keys attention keeps no more than which keys a query sees") {
  for (const bool causal : {false, true}) {
    const Graph g = attention(false, causal);
    PieceOp blocks = find(g, "scaled_dot_product_attention");
    const Operand& key = g.ops[static_cast<std::size_t>(blocks.op)].inputs[1];
    const PartRef keys = key.map[2][0];
    blocks.bindings.push_back({{.axis = 0, .size = 3, .stride = 1}, keys.factor, keys.part, Origin::statement, 0});
    CHECK(kept_aside(g, blocks).count == (causal ? 6 * 2 : 0));
  }
}

TEST_CASE("a normalization keeps two numbers for each row of the largest block") {
  ModelBuilder b;
  const ValueId y = b.norm("norm", b.linear("up", b.input("x", {8, 10, 32}), 16, false));
  const Graph g = b.graph(b.cross_entropy(y, b.input("labels", {8, 10}, DType::i64)));
  PieceOp norm = find(g, "layer_norm");
  CHECK(kept_aside(g, norm).count == 2 * 4 * 8 * 10);
  const Op& op = g.ops[static_cast<std::size_t>(norm.op)];
  const PartRef second = op.inputs[0].map[1][0];
  norm.bindings.push_back({{.axis = 0, .size = 4, .stride = 1}, second.factor, second.part, Origin::statement, 0});
  CHECK(kept_aside(g, norm).count == 2 * 4 * 8 * 3);  // 10 are 3, 3, 2, 2
}

TEST_CASE("what keeps nothing aside, or has no backward") {
  ModelBuilder b;
  const ValueId y = b.norm("norm", b.linear("up", b.input("x", {8, 10, 32}), 16, false));
  Graph g = b.graph(b.cross_entropy(y, b.input("labels", {8, 10}, DType::i64)));
  CHECK(kept_aside(g, find(g, "linear")).count == 0);
  const PieceOp norm = find(g, "layer_norm");
  g.ops[static_cast<std::size_t>(norm.op)].backward = false;
  CHECK(kept_aside(g, norm).count == 0);
}

TEST_CASE("rms normalization keeps a number for each row and what the gradient of its weight reads") {
  for (const bool weighted : {false, true}) {
    ModelBuilder b;
    std::vector<NamedArgument> arguments = {{"input", Tensor{b.linear("up", b.input("x", {8, 10, 32}), 16, false)}},
                                            {"normalized_shape", std::vector<std::int64_t>{16}}};
    if (weighted) arguments.push_back({"weight", Tensor{b.parameter("norm.weight", {16})}});
    const ValueId y = b.node("norm", "aten::rms_norm", std::move(arguments), {8, 10, 16});
    const Graph g = b.graph(b.cross_entropy(y, b.input("labels", {8, 10}, DType::i64)));
    CHECK(kept_aside(g, find(g, "rms_norm")).count == 4 * 8 * 10 + (weighted ? 4 * 8 * 10 * 16 : 0));
  }
}

TEST_CASE("a log-sum-exp has the exponentials of some rows at a time") {
  for (const std::int64_t rows : {3, 1000}) {
    ModelBuilder b;
    const Graph g = b.graph(
        b.cross_entropy(b.linear("head", b.input("x", {rows, 8}), 100, false), b.input("labels", {rows}, DType::i64)));
    std::int64_t bytes = 0;
    for (int i = 0; i < static_cast<int>(g.ops.size()); ++i) {
      PieceOp o;
      o.op = i;
      bytes += taken_meanwhile(g, o).count;
      if (g.node(i).kind == "linear") CHECK(bytes == 0);
    }
    CHECK(bytes == std::min<std::int64_t>(rows, 16384 / 100) * 100 * 4);
  }
}

TEST_CASE("formulas say what operators keep and make") {
  const auto graph = [](const std::string& target, std::vector<NamedArgument> more) {
    ModelBuilder b;
    std::vector<NamedArgument> arguments = {{"input", Tensor{b.linear("up", b.input("x", {8, 32}), 16, false)}}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ValueId y = b.node("f", target, std::move(arguments), {8, 16});
    return b.graph(b.cross_entropy(y, b.input("labels", {8}, DType::i64)));
  };
  const Graph dropout = graph("aten::dropout", {{"p", 0.5}, {"train", true}});
  CHECK(kept_aside(dropout, find(dropout, "dropout")).count == 8 * 16);  // a byte each
  CHECK(taken_backward(dropout, find(dropout, "dropout")).count == 0);
  const Graph erf = graph("aten::erf", {});
  CHECK(kept_aside(erf, find(erf, "erf")).count == 0);
  CHECK(taken_backward(erf, find(erf, "erf")).count == 4 * 8 * 16 * 4);
  const Graph clamp = graph("aten::clamp", {{"min", 0.0}, {"max", 1.0}});
  CHECK(taken_backward(clamp, find(clamp, "clamp")).count == 2 * 8 * 16);
}

TEST_CASE("a product of lists gives gradients of all matrices before it sums those of an operand that it repeats") {
  const auto taken = [](std::vector<std::int64_t> left, std::vector<std::int64_t> right, std::vector<std::int64_t> out) {
    ModelBuilder b;
    const ValueId y = b.node("f", "aten::matmul", {{"self", Tensor{b.parameter("a", std::move(left))}},
                                                   {"other", Tensor{b.parameter("b", std::move(right))}}}, out);
    out.pop_back();
    const Graph g = b.graph(b.cross_entropy(y, b.input("labels", out, DType::i64)));
    return taken_backward(g, find(g, "matmul")).count;
  };
  CHECK(taken({3, 2, 5, 6}, {3, 2, 6, 7}, {3, 2, 5, 7}) == 0);
  CHECK(taken({3, 1, 5, 6}, {2, 6, 7}, {3, 2, 5, 7}) == (5 * 6 * 3 * (2 - 1) + 6 * 7 * 2 * (3 - 1)) * 4);
  CHECK(taken({3, 2, 5, 6}, {6, 7}, {3, 2, 5, 7}) == 0);  // one matrix, of all rows
}

TEST_CASE("an LSTM keeps its gates and states of every step") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {5, 4, 32}), 16, false);
  const std::vector<Tensor> states = {Tensor{b.parameter("h", {1, 4, 8})}, Tensor{b.parameter("c", {1, 4, 8})}};
  const std::vector<Tensor> weights = {Tensor{b.parameter("w", {32, 16})}, Tensor{b.parameter("r", {32, 8})}};
  const ValueId y = b.node("lstm", "aten::lstm.input", {{"input", Tensor{x}}, {"hx", states}, {"params", weights}},
                           {5, 4, 8});
  const Graph g = b.graph(b.cross_entropy(y, b.input("labels", {5, 4}, DType::i64)));
  const std::int64_t unit = 5 * 4 * 8 * 4;
  CHECK(kept_aside(g, find(g, "lstm")).count == 7 * unit);  // and its result
  CHECK(taken_meanwhile(g, find(g, "lstm")).count == 4 * unit);
}

TEST_CASE("a grouped product has the rows of one group at a time") {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {12, 32}), 16, false);
  const ValueId y = b.node("f", "planscope::grouped_mm",
                           {{"self", Tensor{x}},
                            {"weight", Tensor{b.parameter("w", {4, 16, 8})}},
                            {"index", Tensor{b.input("index", {12}, DType::i64)}}},
                           {12, 8});
  const Graph g = b.graph(b.cross_entropy(y, b.input("labels", {12}, DType::i64)));
  CHECK(taken_meanwhile(g, find(g, "grouped_mm")).count == 3 * (16 + 8) * 4 + 12 * 8);
}
