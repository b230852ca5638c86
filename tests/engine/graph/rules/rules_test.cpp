// The rules of operators in small models as text: tests/cases/rules. A line an operator: its name and what describe()
// says; `!` before it where no rule is known.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "engine/graph/graph.h"
#include "engine/graph/rule_text.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

Graph graph_of(const std::string& text) {
  Result<Graph> graph = make_graph(std::make_shared<const Model>(read_model_text(text)));
  REQUIRE(graph.value);
  return *graph;
}

std::string described(const Graph& graph) {
  std::string out;
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op) {
    const bool known = graph.ops[static_cast<std::size_t>(op)].known;
    out += (known ? "" : "! ") + graph.node(op).name() + "  " + describe(graph, op) + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("rules of small models") {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases/rules")) files.insert(entry.path());
  REQUIRE(!files.empty());
  for (const auto& file : files)
    for (const TextCase& c : read_cases(file)) {
      INFO(file << ": " << c.name);
      CHECK(described(graph_of(c.input)) == c.expected);
    }
}

TEST_CASE("a row costs the product with one expert") {
  const Graph graph = graph_of(
      "input %0 x: float32[6,4]\n"
      "input %1 index: int64[6]\n"
      "parameter %2 weight: float32[3,4,5]\n"
      ":grouped_mm#0 %3: float32[6,5] = planscope::grouped_mm(self=%0, weight=%2, index=%1)\n"
      "output %3\n");
  CHECK(graph.ops[0].flops == 2 * 6 * 4 * 5);
}

TEST_CASE("backward reads an operand of a product for the other's gradient alone") {
  const Graph graph = graph_of(
      "input %0 x: float32[6,4]\n"
      "parameter %1 weight: float32[4,4]\n"
      ":linear#0 %2: float32[6,4] = aten::linear(input=%0, weight=%1, bias=none)\n"
      ":linear#1 %3: float32[6,4] = aten::linear(input=%2, weight=%1, bias=none)\n"
      ":mul#0 %4: float32[6,4] = aten::mul.Tensor(self=%3, other=%0)\n"
      ":sum#0 %5: float32[] = aten::sum.dim_IntList(self=%4, dim=[0, 1], keepdim=false, dtype=none)\n"
      "loss %5\n");
  CHECK(graph.ops[0].saves == std::vector<int>{0});
  CHECK(graph.ops[1].saves == std::vector<int>{0, 1});
  CHECK(graph.ops[2].saves == std::vector<int>{1});
}

TEST_CASE("a rule says for which argument value it does not hold") {
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(read_model_text(
      "parameter %0 w: float32[6,4]\n"
      "input %1 i: int64[3]\n"
      ":embedding#0 %2: float32[3,4] = aten::embedding(weight=%0, indices=%1, padding_idx=-1, "
      "scale_grad_by_freq=true, sparse=false)\n"
      "output %2\n")));
  CHECK(to_string(graph.diagnostics) ==
        "note: :embedding#0: the rule of aten::embedding is not written for scale_grad_by_freq=true; it is kept whole and "
        "repeated on every device; what memory it needs is not known\n");
}

TEST_CASE("a line of one's own speaks of arguments that the operator has") {
  CHECK(parse_text_rule("aten::gelu : self h -> h ; arguments approximate=tanh|none")->arguments[0].values.size() == 2);
  CHECK(to_string(parse_text_rule("aten::gelu : self h -> h ; arguments approx").diagnostics) ==
        "rule of aten::gelu: 'arguments' speaks of no argument 'approx'\n");
  CHECK(parse_text_rule("mine::f : self h -> h ; arguments whatever").ok());
}

TEST_CASE("complex values carry gradients") {
  const Graph graph = graph_of(
      "parameter %0 x: float32[6,4,2]\n"
      ":view_as_complex#0 %1: complex64[6,4] = aten::view_as_complex(self=%0)\n"
      ":view_as_real#0 %2: float32[6,4,2] = aten::view_as_real(self=%1)\n"
      ":sum#0 %3: float32[] = aten::sum.dim_IntList(self=%2, dim=[0, 1, 2], keepdim=false, dtype=none)\n"
      "loss %3\n");
  CHECK(graph.tensors[1].gradient);
  CHECK(graph.parameters.at(0).trained);
}
