#pragma once
// Runs one operator of a Model on real tensors: a boxed call of the ATen dispatcher, or, for the operators of our own
// (`planscope::…`) and the few whose canonical meaning is wider than ATen's, the function in canonical_operators.h.
//
// An OperatorCall is prepared once (schema look-up, constant arguments) and run often. Gradients are recorded when the
// operands want them and grad mode is on; a node marked `no_grad` records none.
//
//   OperatorCall linear(node, node.arguments, {});
//   at::Tensor y = linear({x, weight, bias})[0];      // the tensor operands in the order of the node's arguments
//
// Errors: an unknown operator, an argument that does not fit the schema and whatever ATen rejects throw
// std::runtime_error or c10::Error; the worker reports them with the operator's name.
#include <memory>

#include "engine/graph/model.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

class OperatorCall {
 public:
  // `arguments` are those of the node, or changed ones for a shard. Tensor arguments only mark the places of operands.
  OperatorCall(const Node&, std::vector<NamedArgument> arguments, Precision = Precision::model);

  // Operands in the order of the arguments, those inside lists in the order of the list; absent ones (None, -1 in a
  // list) are left out. Results in the order of Node::outputs; an absent optional result is an undefined tensor.
  TensorList operator()(const TensorList& operands) const;

  struct Implementation;

 private:
  std::shared_ptr<const Implementation> implementation_;
};

// Where an operand stands: the argument's position and, in a list, the position there (else -1).
struct OperandPlace {
  int argument = -1;
  int element = -1;
  bool operator==(const OperandPlace&) const = default;
};
std::vector<OperandPlace> operand_places(const std::vector<NamedArgument>&);

}  // namespace planscope
