#include "engine/graph/functional/arithmetic.h"

#include <algorithm>

namespace planscope {

namespace {

using Sizes = std::vector<std::int64_t>;

Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (const Sizes* s : {&a, &b})
    for (std::size_t d = 0; d < s->size(); ++d) {
      std::int64_t& size = out[out.size() - s->size() + d];
      size = size == 1 ? (*s)[d] : size;
    }
  return out;
}

}  // namespace

ValueId Arithmetic::binary(const char* target, ValueId a, ValueId b, bool alpha) {
  std::vector<NamedArgument> arguments = {{"self", Tensor{a}}, {"other", Tensor{b}}};
  if (alpha) arguments.push_back({"alpha", std::int64_t{1}});
  return b_.emit(like_, target, std::move(arguments), value(a).dtype, broadcast(value(a).sizes, value(b).sizes));
}

ValueId Arithmetic::add(ValueId a, double number) {
  return b_.emit(like_, "aten::add.Scalar", {{"self", Tensor{a}}, {"other", number}, {"alpha", std::int64_t{1}}},
                 value(a).dtype, value(a).sizes);
}

ValueId Arithmetic::mul(ValueId a, double number) {
  return b_.emit(like_, "aten::mul.Scalar", {{"self", Tensor{a}}, {"other", number}}, value(a).dtype, value(a).sizes);
}

ValueId Arithmetic::unary(const char* target, ValueId a) {
  return b_.emit(like_, target, {{"self", Tensor{a}}}, value(a).dtype, value(a).sizes);
}

ValueId Arithmetic::reduce(const char* target, ValueId a, const Sizes& dims, bool keepdim) {
  Sizes left;
  for (std::size_t d = 0; d < value(a).sizes.size(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    if (!reduced || keepdim) left.push_back(reduced ? 1 : value(a).sizes[d]);
  }
  return b_.emit(like_, target, {{"self", Tensor{a}}, {"dim", dims}, {"keepdim", keepdim}, {"dtype", None{}}},
                 value(a).dtype, std::move(left));
}

ValueId Arithmetic::root(ValueId a) {
  const auto filled = [&](ValueId of, ValueId mask, double number) {
    return b_.emit(like_, "aten::masked_fill.Scalar",
                   {{"self", Tensor{of}}, {"mask", Tensor{mask}}, {"value", number}}, value(of).dtype, value(of).sizes);
  };
  const ValueId zero =
      b_.emit(like_, "aten::eq.Scalar", {{"self", Tensor{a}}, {"other", 0.0}}, DType::boolean, value(a).sizes);
  return filled(unary("aten::sqrt", filled(a, zero, 1)), zero, 0);
}

ValueId Arithmetic::unbias(ValueId mean, ValueId of, const Sizes& dims, double correction) {
  if (correction == 0) return mean;
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= value(of).sizes[static_cast<std::size_t>(d)];
  const ValueId result =
      b_.emit(like_, "statistics::unbias",
              {{"self", Tensor{mean}}, {"dim", dims}, {"count", count}, {"correction", correction}}, value(mean).dtype,
              value(mean).sizes);
  b_.model.nodes.back().like = of;
  return result;
}

DType wide(DType type) { return type == DType::f16 || type == DType::bf16 ? DType::f32 : type; }

}  // namespace planscope
