#pragma once
// Nobody expands a first size of 1 to 1, or repeats it once, but to a batch that is 1 in the file. What comes of parameters alone
// keeps such an expand, whose 1 then is the batch wherever it meets it (PartTable::make, loose).
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/batch_of_one.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

class LiteralOnes {
 public:
  explicit LiteralOnes(const Model& model)
      : of_inputs_(batch_of_one(model) ? of_inputs(model) : std::vector<bool>(model.values.size(), true)) {}

  // The operand that `node` repeats or expands, with the first dimension of its result in front, behind an expand that keeps its sizes if its first 1 may be the batch.
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

  // Such an expand.
  static bool keeps_sizes(const Rewriter& rewriter, const Node& node) {
    const ValueId self = sole_operand(node);
    if (node.target != "aten::expand" || self < 0 ||
        rewriter.value(self).sizes != rewriter.value(node.outputs[0]).sizes)
      return false;
    const auto* size = ints_argument(node, "size");
    return size && *size == rewriter.value(self).sizes;
  }
  bool keeps(const Rewriter& rewriter, const Node& node) const {
    const auto result = static_cast<std::size_t>(node.outputs[0]);
    return result < of_inputs_.size() && !of_inputs_[result] && keeps_sizes(rewriter, node) &&
           !rewriter.value(node.outputs[0]).sizes.empty() && rewriter.value(node.outputs[0]).sizes[0] == 1;
  }

 private:
  std::vector<bool> of_inputs_;
};

}  // namespace planscope
