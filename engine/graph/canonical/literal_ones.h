#pragma once
// In a file exported at batch 1, what is computed of parameters alone and is expanded from 1 to a 1 that its sizes name, or is repeated
// once along a dimension of size 1, may have been expanded to the batch. Such an expand is kept, and its 1 becomes the batch where an
// operator ties the two (PartTable::make, loose).
//
//   const LiteralOnes ones(model);                      // before the nodes are rewritten
//   if (ones.is_kept(rewriter, node)) return false;     // it is such an expand already
//   self = ones.kept(rewriter, node, self);             // the operand, behind such an expand where one is needed
#include <algorithm>
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/batch_of_one.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

class LiteralOnes {
 public:
  explicit LiteralOnes(const Model& model)
      : of_inputs_(batch_of_one(model) ? of_inputs(model) : std::vector<bool>(model.values.size(), true)) {}

  // `self`, the operand that `node` repeats or expands, has as many dimensions as its result. The answer is `self`, or the result of an
  // expand that keeps its sizes and names those that may be the batch, -1 standing for the others.
  ValueId kept(Rewriter& rewriter, const Node& node, ValueId self) const {
    const Value own = rewriter.value(self);
    const auto result = static_cast<std::size_t>(node.outputs[0]);
    if (result >= of_inputs_.size() || of_inputs_[result]) return self;
    if (const Node* made = rewriter.producer(self); made && names_ones(rewriter, *made)) return self;
    const std::vector<std::int64_t> named = named_ones(rewriter, node, own.sizes);
    if (std::none_of(named.begin(), named.end(), is_one)) return self;
    return rewriter.emit(node, "aten::expand", {{"self", Tensor{self}}, {"size", named}, {"implicit", false}},
                         own.dtype, own.sizes);
  }

  // Whether the node is an expand that `kept` has made, or would make.
  bool is_kept(const Rewriter& rewriter, const Node& node) const {
    const auto result = static_cast<std::size_t>(node.outputs[0]);
    return result < of_inputs_.size() && !of_inputs_[result] && names_ones(rewriter, node);
  }

 private:
  static bool is_one(std::int64_t size) { return size == 1; }

  // 1 where the operand has size 1 and the node says that the result has, else -1.
  static std::vector<std::int64_t> named_ones(const Rewriter& rewriter, const Node& node,
                                              const std::vector<std::int64_t>& own) {
    const auto* size = ints_argument(node, "size");
    const auto& result = rewriter.value(node.outputs[0]).sizes;
    std::vector<std::int64_t> named(own.size(), -1);
    for (std::size_t d = 0; d < own.size() && d < result.size(); ++d)
      if (is_one(own[d]) && is_one(result[d]) && (!size || (d < size->size() && is_one((*size)[d])))) named[d] = 1;
    return named;
  }

  static bool names_ones(const Rewriter& rewriter, const Node& node) {
    const ValueId self = sole_operand(node);
    if (node.target != "aten::expand" || self < 0) return false;
    const auto& sizes = rewriter.value(self).sizes;
    if (sizes != rewriter.value(node.outputs[0]).sizes) return false;
    const std::vector<std::int64_t> named = named_ones(rewriter, node, sizes);
    return std::any_of(named.begin(), named.end(), is_one);
  }

  std::vector<bool> of_inputs_;
};

}  // namespace planscope
