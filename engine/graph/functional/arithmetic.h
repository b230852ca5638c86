#pragma once
// Emits arithmetic, as passes need it to take an operator apart: every result has the type of its (first) operand, and the
// sizes that broadcasting gives.
#include <vector>

#include "engine/graph/functional/storage.h"

namespace planscope {

class Arithmetic {
 public:
  // Nodes are named like `like`.
  Arithmetic(Builder& builder, const Node& like) : b_(builder), like_(like) {}

  ValueId add(ValueId a, ValueId b) { return binary("aten::add.Tensor", a, b, true); }
  ValueId sub(ValueId a, ValueId b) { return binary("aten::sub.Tensor", a, b, true); }
  ValueId mul(ValueId a, ValueId b) { return binary("aten::mul.Tensor", a, b, false); }
  ValueId div(ValueId a, ValueId b) { return binary("aten::div.Tensor", a, b, false); }
  ValueId add(ValueId a, double number);
  ValueId mul(ValueId a, double number);
  ValueId unary(const char* target, ValueId a);  // `aten::rsqrt`
  ValueId square(ValueId a) { return unary("aten::square", a); }
  ValueId mean(ValueId a, const std::vector<std::int64_t>& dims, bool keepdim) {
    return reduce("aten::mean.dim", a, dims, keepdim);
  }
  ValueId sum(ValueId a, const std::vector<std::int64_t>& dims, bool keepdim) {
    return reduce("aten::sum.dim_IntList", a, dims, keepdim);
  }
  // The square root; where it is 0 no gradient flows.
  ValueId root(ValueId a);
  // `mean` of n numbers as their sum over n - correction; n is that of `of` in `dims`.
  ValueId unbias(ValueId mean, ValueId of, const std::vector<std::int64_t>& dims, double correction);
  ValueId cast(ValueId a, DType type) { return b_.emit_cast(like_, a, type); }
  ValueId view(ValueId a, std::vector<std::int64_t> sizes) { return b_.emit_view(like_, a, std::move(sizes)); }
  const Value& value(ValueId id) const { return b_.value(id); }

 private:
  ValueId binary(const char* target, ValueId a, ValueId b, bool alpha);
  ValueId reduce(const char* target, ValueId a, const std::vector<std::int64_t>& dims, bool keepdim);

  Builder& b_;
  const Node& like_;
};

// 16-bit types are computed with in float32.
DType wide(DType);

}  // namespace planscope
