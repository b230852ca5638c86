// Models before and after a canonical pass, executed: equal results and equal gradients. The models are the cases of
// tests/cases/import, which say what the pass makes of them.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <map>

#include "engine/runtime/operator_call.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

// By name, without a gradient for buffers; integers are 0, 1 or 2, a valid index of everything in the cases.
TensorList draw(const Model& model) {
  TensorList values(model.values.size());
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Value& value = model.values[v];
    if (value.kind == ValueKind::computed) continue;
    at::manual_seed(std::hash<std::string>()(value.name));
    values[v] = is_floating(value.dtype) ? at::randn(value.sizes, at::kDouble) : at::randint(0, 3, value.sizes, at::kLong);
    if (is_floating(value.dtype)) values[v].requires_grad_(value.kind != ValueKind::buffer);
  }
  return values;
}

struct Outcome {
  TensorList results, gradients;
};

Outcome execute(const Model& model) {
  TensorList values = draw(model), leaves, upstream;
  std::map<std::string, at::Tensor> by_name;  // the order of a model's values is its own
  for (std::size_t v = 0; v < values.size(); ++v)
    if (values[v].defined() && values[v].requires_grad()) by_name[model.values[v].name] = values[v];
  for (const auto& [name, value] : by_name) leaves.push_back(value);
  for (const Node& node : model.nodes) {
    TensorList operands;
    for (const OperandPlace& place : operand_places(node.arguments)) {
      const Argument& argument = node.arguments[static_cast<std::size_t>(place.argument)].value;
      const Tensor tensor = place.element < 0
                                ? std::get<Tensor>(argument)
                                : std::get<std::vector<Tensor>>(argument)[static_cast<std::size_t>(place.element)];
      operands.push_back(values[static_cast<std::size_t>(tensor.id)]);
    }
    const TensorList outputs = OperatorCall(node, node.arguments, Precision::float64)(operands);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      values[static_cast<std::size_t>(node.outputs[k])] = outputs[k];
  }
  Outcome outcome;
  for (const ValueId id : model.outputs) outcome.results.push_back(values[static_cast<std::size_t>(id)]);
  at::manual_seed(8);
  for (const at::Tensor& result : outcome.results) upstream.push_back(at::randn(result.sizes(), at::kDouble));
  for (const at::Tensor& g : torch::autograd::grad(outcome.results, leaves, upstream, false, false, true))
    outcome.gradients.push_back(g);
  return outcome;
}

}  // namespace

TEST_CASE("what a pass makes of a model computes the same") {
  const std::string pass = GENERATE("dispatch", "repeats", "whole_indices", "row_indices", "losses", "gates", "cross_entropy",
                                    "splits", "reductions", "patches", "moments", "batch_norms", "shuffles",
                                    "written_pieces");
  int executed = 0;
  for (const TextCase& c : read_cases("tests/cases/import/" + pass + ".test")) {
    const Model before = read_model_text(c.input), after = read_model_text(c.expected);
    const bool differentiable = is_floating(before.values[static_cast<std::size_t>(before.outputs[0])].dtype);
    if (c.input == c.expected || !differentiable) continue;
    INFO(pass << ": " << c.name);
    const Outcome expected = execute(before), got = execute(after);
    REQUIRE(got.results.size() == expected.results.size());
    for (std::size_t i = 0; i < got.results.size(); ++i)
      CHECK(at::allclose(got.results[i], expected.results[i], 1e-12, 1e-12));
    REQUIRE(got.gradients.size() == expected.gradients.size());
    for (std::size_t i = 0; i < got.gradients.size(); ++i) {
      REQUIRE(got.gradients[i].defined() == expected.gradients[i].defined());
      if (got.gradients[i].defined()) CHECK(at::allclose(got.gradients[i], expected.gradients[i], 1e-12, 1e-12));
    }
    ++executed;
  }
  CHECK(executed >= 1);
}
