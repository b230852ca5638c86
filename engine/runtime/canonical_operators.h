#pragma once
// The operators of engine/graph/canonical that ATen does not have, or has with a narrower meaning (`aten::view` of a
// tensor whose memory order does not allow a view copies; `aten::scaled_dot_product_attention` wants the number of
// groups to be written). Each is a composition of ATen calls, so that autograd gives its backward.
//
// The backward of `planscope::lse` over a vocabulary shard is that of the local shard; what the other shards add is the
// business of the merge that combines them (see merge.h).
#include <string>

#include "engine/runtime/operator_call.h"

namespace planscope {

// The arguments of a call by name: constants from the model, tensors from the operands.
class CallArguments {
 public:
  CallArguments(const std::vector<NamedArgument>& arguments, const TensorList& operands);

  const Argument& value(const std::string& name) const;
  at::Tensor tensor(const std::string& name) const;  // undefined where None
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  bool flag(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  DType dtype(const std::string& name) const;

 private:
  int index(const std::string& name) const;

  const std::vector<NamedArgument>& arguments_;
  const TensorList& operands_;
  std::vector<int> first_operand_;  // per argument
};

using CanonicalOperator = TensorList (*)(const CallArguments&, Precision);
CanonicalOperator canonical_operator(const std::string& target);  // nullptr: an ATen operator

}  // namespace planscope
