#pragma once
// Walks a model's nodes in order and builds the new list. A pass is one function per node: it either lets the node stay
// (false), or emits others and says what stands for its results (true).
//
//   Model no_ops(Model model) {
//     return rewrite(std::move(model), [](Rewriter& r, Node& node) {
//       if (node.target != "aten::clone") return false;
//       r.replace(node.outputs[0], tensor_argument(node, "self"));
//       return true;
//     });
//   }
#include <functional>

#include "engine/graph/functional/storage.h"

namespace planscope {

class Rewriter : public Builder {
 public:
  explicit Rewriter(Model& model) : Builder(model) {}

  void replace(ValueId old, ValueId now);
  ValueId current(ValueId) const;
  bool replaces() const { return !replaced_.empty(); }
  const Node* producer(ValueId) const;  // among the nodes emitted so far; valid until the next one

 private:
  friend Model rewrite(Model, const std::function<bool(Rewriter&, Node&)>&);
  void note_producers();

  std::vector<ValueId> replaced_;  // -1: itself
  std::vector<int> producers_;     // node index; -1: none
  std::size_t noted_ = 0;
};

// Operands of a node are current when the function sees it.
Model rewrite(Model, const std::function<bool(Rewriter&, Node&)>&);

// The first operand (`self`, `input`) if the node has it and one result, else -1.
ValueId sole_operand(const Node&);

}  // namespace planscope
