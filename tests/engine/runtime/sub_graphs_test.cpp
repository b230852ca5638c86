// Branches and loops run as they are written, forward and backward.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/runtime/operator_call.h"

using namespace planscope;

namespace {

using Body = std::shared_ptr<const Model>;

// A model of `inputs` operands, whose nodes have one result each.
struct BodyBuilder {
  Model model;
  explicit BodyBuilder(int inputs) {
    for (int i = 0; i < inputs; ++i) model.inputs.push_back(value());
  }
  ValueId value() {
    model.values.emplace_back();
    return static_cast<ValueId>(model.values.size()) - 1;
  }
  ValueId node(const std::string& target, std::vector<NamedArgument> arguments) {
    Node node;
    node.target = target;
    node.arguments = std::move(arguments);
    node.outputs = {value()};
    model.nodes.push_back(std::move(node));
    return model.nodes.back().outputs[0];
  }
  ValueId times(ValueId x, double by) {
    return node("aten::mul.Scalar", {{"self", Tensor{x}}, {"other", by}});
  }
  ValueId plus(ValueId x, ValueId y) {
    return node("aten::add.Tensor", {{"self", Tensor{x}}, {"other", Tensor{y}}, {"alpha", std::int64_t{1}}});
  }
  Body returning(std::vector<ValueId> outputs) {
    model.outputs = std::move(outputs);
    return std::make_shared<const Model>(model);
  }
};

std::vector<Tensor> numbered(int first, int count) {
  std::vector<Tensor> out;
  for (int i = 0; i < count; ++i) out.push_back(Tensor{first + i});
  return out;
}

TensorList call(const std::string& target, std::vector<NamedArgument> arguments, std::vector<Body> bodies,
                const TensorList& operands) {
  Node node;
  node.target = target;
  node.arguments = std::move(arguments);
  node.bodies = std::move(bodies);
  return OperatorCall(node, node.arguments)(operands);
}

at::Tensor leaf(at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble).requires_grad_(); }

}  // namespace

TEST_CASE("a branch is taken by its predicate, and gives its gradient") {
  BodyBuilder twice(1), thrice(1);
  const Body first = twice.returning({twice.times(0, 2)}), second = thrice.returning({thrice.times(0, 3)});
  const at::Tensor x = leaf({4});
  for (const bool holds : {true, false}) {
    const TensorList y = call("planscope::cond", {{"predicate", Tensor{0}}, {"operands", numbered(1, 1)}},
                              {first, second}, {at::scalar_tensor(holds, at::kBool), x});
    REQUIRE(y.size() == 1);
    CHECK(at::allclose(y[0], x * (holds ? 2 : 3)));
    const at::Tensor gradient = torch::autograd::grad({y[0].sum()}, {x})[0];
    CHECK(at::allclose(gradient, at::full({4}, holds ? 2. : 3., at::kDouble)));
  }
}

TEST_CASE("a loop runs while its condition holds") {
  BodyBuilder condition(2), body(2);
  const Body less = condition.returning(
      {condition.node("aten::lt.Scalar", {{"self", Tensor{0}}, {"other", std::int64_t{3}}})});
  const ValueId next = body.node(
      "aten::add.Scalar", {{"self", Tensor{0}}, {"other", std::int64_t{1}}, {"alpha", std::int64_t{1}}});
  const Body half = body.returning({next, body.times(1, 0.5)});
  const at::Tensor x = leaf({4});
  const TensorList y =
      call("planscope::while_loop", {{"carried", numbered(0, 2)}, {"additional", std::vector<Tensor>{}}}, {less, half},
           {at::scalar_tensor(0, at::kLong), x});
  REQUIRE(y.size() == 2);
  CHECK(y[0].item<std::int64_t>() == 3);
  CHECK(at::allclose(y[1], x / 8));
}

TEST_CASE("a scan carries its state along the first dimension") {
  BodyBuilder body(3);  // carry, element, additional -> carry + element, (carry + element) + additional
  const ValueId sum = body.plus(0, 1);
  const Body add = body.returning({sum, body.plus(sum, 2)});
  const at::Tensor carry = leaf({4}), x = leaf({5, 4}), more = leaf({4});
  const TensorList y = call(
      "planscope::scan",
      {{"carried", numbered(0, 1)}, {"elements", numbered(1, 1)}, {"additional", numbered(2, 1)}}, {add},
      {carry, x, more});
  REQUIRE(y.size() == 2);
  CHECK(at::allclose(y[0], carry + x.sum(0)));
  CHECK(at::allclose(y[1], carry + x.cumsum(0) + more));
  const auto gradients = torch::autograd::grad({y[1].sum()}, {x, more});
  CHECK(at::allclose(gradients[0].select(1, 0), at::tensor({5., 4., 3., 2., 1.}, at::kDouble)));
  CHECK(at::allclose(gradients[1], at::full({4}, 5., at::kDouble)));
}

TEST_CASE("a map and an associative scan go over elements") {
  BodyBuilder body(2);
  const Body add = body.returning({body.plus(0, 1)});
  const at::Tensor x = leaf({5, 4}), more = leaf({4});
  const TensorList mapped = call(
      "planscope::map", {{"elements", numbered(0, 1)}, {"additional", numbered(1, 1)}}, {add}, {x, more});
  REQUIRE(mapped.size() == 1);
  CHECK(at::allclose(mapped[0], x + more));
  const TensorList scanned =
      call("planscope::associative_scan", {{"elements", numbered(0, 1)}, {"additional", std::vector<Tensor>{}}}, {add},
           {x});
  REQUIRE(scanned.size() == 1);
  CHECK(at::allclose(scanned[0], x.cumsum(0)));
}

TEST_CASE("an in-place operator runs on a copy") {
  Node fill;
  fill.target = "aten::fill_diagonal_";
  fill.arguments = {{"self", Tensor{0}}, {"fill_value", 2.0}, {"wrap", true}};
  const at::Tensor x = leaf({4, 2}), before = x.detach().clone();
  const at::Tensor y = OperatorCall(fill, fill.arguments)({x})[0];
  CHECK(at::equal(x.detach(), before));
  CHECK(y.diagonal().eq(2).all().item<bool>());
  CHECK(torch::autograd::grad({y.sum()}, {x})[0].diagonal().eq(0).all().item<bool>());
}
