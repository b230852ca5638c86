#pragma once
// In a file exported at batch 1, what is computed of parameters alone and is expanded from 1 to 1 in its first dimension, or repeated
// once, was expanded to the batch. Such an expand is kept, and its 1 becomes the batch where an operator ties the two (PartTable::make,
// loose).
//
//   const LiteralOnes ones(model);                      // before the nodes are rewritten
//   if (ones.is_kept(rewriter, node)) return false;     // it is such an expand already
//   self = ones.kept(rewriter, node, self);             // the operand, behind such an expand where one is needed
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/batch_of_one.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

class LiteralOnes {
 public:
  explicit LiteralOnes(const Model& model)
      : of_inputs_(batch_of_one(model) ? of_inputs(model) : std::vector<bool>(model.values.size(), true)) {}

  // `self`, the operand that `node` repeats or expands, has the first dimension of the node's result as its own first one. The answer is
  // `self`, or the result of an expand that keeps its sizes.
  ValueId kept(Rewriter& rewriter, const Node& node, ValueId self) const {
    const Value own = rewriter.value(self);
    const auto result = static_cast<std::size_t>(node.outputs[0]);
    const auto& sizes = rewriter.value(node.outputs[0]).sizes;
    if (own.sizes.empty() || sizes.empty() || own.sizes[0] != 1 || sizes[0] != 1) return self;
    if (result >= of_inputs_.size() || of_inputs_[result]) return self;
    if (const Node* made = rewriter.producer(self); made && keeps_sizes(rewriter, *made)) return self;
    return rewriter.emit(node, "aten::expand", {{"self", Tensor{self}}, {"size", own.sizes}, {"implicit", false}},
                         own.dtype, own.sizes);
  }

  // Whether the node is an expand that `kept` has made, or would make.
  bool is_kept(const Rewriter& rewriter, const Node& node) const {
    const auto result = static_cast<std::size_t>(node.outputs[0]);
    const auto& sizes = rewriter.value(node.outputs[0]).sizes;
    return result < of_inputs_.size() && !of_inputs_[result] && keeps_sizes(rewriter, node) && !sizes.empty() && sizes[0] == 1;
  }

 private:
  static bool keeps_sizes(const Rewriter& rewriter, const Node& node) {
    const ValueId self = sole_operand(node);
    if (node.target != "aten::expand" || self < 0) return false;
    const auto& sizes = rewriter.value(self).sizes;
    const auto* size = ints_argument(node, "size");
    return size && *size == sizes && sizes == rewriter.value(node.outputs[0]).sizes;
  }

  std::vector<bool> of_inputs_;
};

}  // namespace planscope
