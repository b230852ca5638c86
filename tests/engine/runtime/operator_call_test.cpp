#include <catch2/catch.hpp>

#include "engine/runtime/autograd.h"
#include "engine/runtime/operator_call.h"

using namespace planscope;

namespace {

Node node(const std::string& target, std::vector<NamedArgument> arguments) {
  Node n;
  n.target = target;
  n.kind = target;
  n.arguments = std::move(arguments);
  return n;
}

at::Tensor run(const Node& n, const TensorList& operands, Precision precision = Precision::model) {
  return OperatorCall(n, n.arguments, precision)(operands).at(0);
}

at::Tensor random(at::IntArrayRef sizes) { return at::randn(sizes, at::kDouble); }

}  // namespace

TEST_CASE("an ATen operator is called with its arguments in the order of the schema") {
  const at::Tensor x = random({2, 3}), w = random({4, 3}), b = random({4});
  const Node linear = node("aten::linear", {{"input", Tensor{0}}, {"weight", Tensor{1}}, {"bias", Tensor{2}}});
  CHECK(at::equal(run(linear, {x, w, b}), at::linear(x, w, b)));
  const Node bare = node("aten::linear", {{"input", Tensor{0}}, {"weight", Tensor{1}}, {"bias", None{}}});
  CHECK(at::equal(run(bare, {x, w}), at::linear(x, w)));
  const Node swapped = node("aten::linear", {{"weight", Tensor{1}}, {"input", Tensor{0}}});
  CHECK(at::equal(run(swapped, {w, x}), at::linear(x, w)));
}

TEST_CASE("lists of tensors, optional ones too, are filled") {
  const at::Tensor a = random({2, 3}), b = random({1, 3});
  const Node cat = node("aten::cat", {{"tensors", std::vector<Tensor>{{0}, {1}}}, {"dim", std::int64_t{0}}});
  CHECK(at::equal(run(cat, {a, b}), at::cat({a, b}, 0)));
  const at::Tensor index = at::tensor({1, 0, 1}, at::kLong);
  const Node look = node("aten::index.Tensor", {{"self", Tensor{0}}, {"indices", std::vector<Tensor>{{-1}, {1}}}});
  CHECK(at::equal(run(look, {a, index}), a.index_select(1, index)));
}

TEST_CASE("several results come in the order of the outputs") {
  const at::Tensor x = random({5});
  const Node split =
      node("aten::split_with_sizes",
           {{"self", Tensor{0}}, {"split_sizes", std::vector<std::int64_t>{2, 3}}, {"dim", std::int64_t{0}}});
  const TensorList parts = OperatorCall(split, split.arguments)({x});
  REQUIRE(parts.size() == 2);
  CHECK(at::equal(parts[1], x.narrow(0, 2, 3)));
}

TEST_CASE("wide precision changes the types that arguments name") {
  const Node cast = node("aten::to.dtype", {{"self", Tensor{0}},
                                            {"dtype", DType::bf16},
                                            {"non_blocking", false},
                                            {"copy", false},
                                            {"memory_format", None{}}});
  CHECK(run(cast, {at::ones({1})}).scalar_type() == at::kBFloat16);
  CHECK(run(cast, {at::ones({1})}, Precision::float64).scalar_type() == at::kDouble);
}

TEST_CASE("no gradient flows through an operator that is marked so") {
  Node square = node("aten::mul.Tensor", {{"self", Tensor{0}}, {"other", Tensor{1}}});
  const at::Tensor x = random({2}).requires_grad_();
  CHECK(run(square, {x, x}).requires_grad());
  square.no_grad = true;
  CHECK_FALSE(run(square, {x, x}).requires_grad());
}

TEST_CASE("attention counts its groups from the operands") {
  const at::Tensor q = random({1, 4, 5, 8}), k = random({1, 2, 5, 8}), v = random({1, 2, 5, 8});
  const Node attention = node("planscope::attention", {{"query", Tensor{0}},
                                                       {"key", Tensor{1}},
                                                       {"value", Tensor{2}},
                                                       {"attn_mask", None{}},
                                                       {"is_causal", true},
                                                       {"scale", 0.3},
                                                       {"groups", std::int64_t{2}}});
  const at::Tensor mask = at::ones({5, 5}, at::kBool).tril();
  const at::Tensor scores =
      at::matmul(q, k.repeat_interleave(2, 1).transpose(-2, -1)).mul(0.3).masked_fill(mask.logical_not(), -INFINITY);
  const at::Tensor expected = at::matmul(scores.softmax(-1), v.repeat_interleave(2, 1));
  CHECK(at::allclose(run(attention, {q, k, v}), expected, 1e-12, 1e-12));
}

TEST_CASE("the parts of a cross entropy give the whole one") {
  const at::Tensor logits = random({6, 9}), target = at::tensor({1, 8, -100, 0, 3, -100}, at::kLong);
  const at::Tensor lse = run(node("planscope::lse", {{"self", Tensor{0}}, {"dim", std::int64_t{1}}}), {logits});
  const at::Tensor picked =
      run(node("planscope::pick", {{"self", Tensor{0}}, {"target", Tensor{1}}, {"ignore_index", std::int64_t{-100}}}),
          {logits, target});
  const at::Tensor mask =
      run(node("planscope::token_mask",
               {{"target", Tensor{0}}, {"ignore_index", std::int64_t{-100}}, {"dtype", DType::f64}}),
          {target});
  const at::Tensor loss = lse.sub(picked).mul(mask).sum().div(mask.sum());
  CHECK(at::allclose(loss, at::cross_entropy_loss(logits, target), 1e-12, 1e-12));
}

TEST_CASE("a view of a tensor in another memory order copies") {
  const at::Tensor x = random({2, 3});
  const Node view = node("aten::view", {{"self", Tensor{0}}, {"size", std::vector<std::int64_t>{6}}});
  CHECK(at::equal(run(view, {x.t()}), x.t().reshape({6})));
}

TEST_CASE("what cannot be called is told with its name") {
  const auto message = [](const Node& n) -> std::string {
    try {
      OperatorCall(n, n.arguments);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(message(node("aten::no_such", {})) == "LibTorch has no operator 'aten::no_such'");
  CHECK(message(node("planscope::opaque",
                     {{"operator", std::string("aten::mul.Tensor")}, {"operands", std::vector<Tensor>{{0}}}})) ==
        "aten::mul.Tensor cannot be run: not all of its arguments can be read from the file, as 'planscope info' says");
  CHECK(message(node("aten::relu", {{"self", Tensor{0}}, {"slope", 1.0}})) ==
        "'aten::relu' has arguments that its schema does not know: aten::relu(Tensor self) -> Tensor");
  CHECK(message(node("aten::softmax.int", {{"self", Tensor{0}}, {"dim", std::string("x")}})) ==
        "argument 'dim' does not fit the schema's type int");
}

TEST_CASE("memory says what a result is: conjugates and signs are carried out, sparse gradients dense") {
  const at::Tensor x = at::randn({2, 3}, at::kComplexDouble);
  const at::Tensor conjugate = run(node("aten::_conj", {{"self", Tensor{0}}}), {x});
  CHECK_FALSE(conjugate.is_conj());
  CHECK(at::equal(conjugate, at::complex(at::real(x), at::imag(x).neg())));
  const at::Tensor imaginary = run(node("aten::imag", {{"self", Tensor{0}}}), {x.conj()});
  CHECK_FALSE(imaginary.is_neg());
  CHECK(at::equal(imaginary, at::imag(x).neg()));
  CHECK_FALSE(settled(x.conj()).is_conj());
  const at::Tensor rows = at::tensor({3, 1, 3}, at::kLong).unsqueeze(0), ones = at::ones({3}, at::kDouble);
  CHECK(at::equal(settled(at::sparse_coo_tensor(rows, ones, {5})), at::tensor({0., 1., 0., 2., 0.}, at::kDouble)));
}

TEST_CASE("pairs need not be neighbours in memory to be seen as complex numbers") {
  const at::Tensor x = random({2, 3});
  const at::Tensor z = run(node("aten::view_as_complex", {{"self", Tensor{0}}}), {x.t()});
  CHECK(at::equal(z, at::complex(x[0].clone(), x[1].clone())));
}
