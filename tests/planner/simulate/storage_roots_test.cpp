#include "planner/simulate/storage_roots.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "planner/simulate/working_set.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

// All operators as one piece on one device.
Piece whole(const Graph& graph) {
  Piece piece;
  std::vector<int> slot(graph.tensors.size(), -1);
  const auto add = [&](TensorId t) {
    slot[static_cast<std::size_t>(t)] = static_cast<int>(piece.slots.size());
    piece.slots.push_back({t, 0});
  };
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    if (graph.model->values[t].kind != ValueKind::computed) add(static_cast<TensorId>(t));
  piece.leaves = static_cast<int>(piece.slots.size());
  for (std::size_t o = 0; o < graph.ops.size(); ++o) {
    PieceOp op{static_cast<OpId>(o), {}, static_cast<int>(piece.slots.size()), {}};
    for (const Operand& in : graph.ops[o].inputs) op.inputs.push_back(slot[static_cast<std::size_t>(in.tensor)]);
    for (const Operand& out : graph.ops[o].outputs) add(out.tensor);
    piece.ops.push_back(op);
  }
  for (int s = piece.leaves; s < static_cast<int>(piece.slots.size()); ++s)
    if (std::none_of(piece.ops.begin(), piece.ops.end(), [s](const PieceOp& o) {
          return std::find(o.inputs.begin(), o.inputs.end(), s) != o.inputs.end();
        }))
      piece.outputs.push_back(s);
  return piece;
}

std::string roots_of(const Graph& graph) {
  const Piece piece = whole(graph);
  const StorageRoots roots = storage_roots(graph, piece);
  std::vector<std::string> names;
  for (int leaf = 0; leaf < piece.leaves; ++leaf)
    names.push_back(graph.tensor_name(piece.slots[static_cast<std::size_t>(leaf)].tensor));
  std::string out;
  for (std::size_t i = 0; i < piece.ops.size(); ++i) {
    const PieceOp& o = piece.ops[i];
    for (std::size_t k = 0; k < graph.ops[static_cast<std::size_t>(o.op)].outputs.size(); ++k) {
      names.push_back(graph.node(o.op).name() + (k > 0 ? "." + std::to_string(k) : ""));
      const auto root = static_cast<std::size_t>(roots.storage[names.size() - 1]);
      out += names.back() + "  " + (root == names.size() - 1 ? "new" : names[root]);
      for (const int slot : roots.copied[i]) out += ", copies " + names[static_cast<std::size_t>(slot)];
      if (roots.puts_in_order[i]) out += ", puts in order";
      out += "\n";
    }
  }
  return out;
}

}  // namespace

TEST_CASE("results share memory as LibTorch's do") {
  for (const testing::TextCase& c : testing::read_cases("tests/cases/simulate/storage_roots.test")) {
    INFO(c.name);
    const Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(c.input)));
    INFO(to_string(graph.diagnostics));
    REQUIRE(graph.value);
    CHECK(roots_of(*graph) == c.expected);
  }
}

TEST_CASE("a product has a copy of the gradient that it is given where that does not lie as its result") {
  const auto worst = [](const std::string& equation, const std::string& sizes) {
    Result<Graph> graph = make_graph(std::make_shared<const Model>(testing::read_model_text(
        "input %0 x: float32[2,3,5]\ninput %1 w: float32[4,5,6]\n:einsum#0 %2: float32[" + sizes +
        "] = aten::einsum(equation=\"" + equation + "\", tensors=[%0, %1], path=none)\noutput %2\n")));
    INFO(to_string(graph.diagnostics));
    REQUIRE(graph.value);
    for (PTensor& t : graph->tensors) t.gradient = true;
    for (Op& op : graph->ops) op.backward = true, op.saves = {0, 1};
    Piece piece = whole(*graph);
    piece.gradient = true;
    const WorkingSet w = working_set(*graph, piece, {Bytes{120}, Bytes{480}, Bytes{576}});
    CHECK(w.kept == 480);  // w, in another order
    return w.whole.bytes;
  };
  CHECK(worst("bsd,edf->bsef", "2,3,4,6") == 120 + 480);  // both gradients
  CHECK(worst("bsd,edf->besf", "2,4,3,6") == 120 + 480 + 576);
}
