// Operators that return what they are given: copies, layout changes, dropout that does nothing, padding by nothing,
// numbers plus zero.
#include <algorithm>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

bool is_dropout(const Node& node) {
  return node.target == "aten::dropout" || node.target == "aten::alpha_dropout" ||
         node.target == "aten::feature_dropout" || node.target == "aten::feature_alpha_dropout";
}

bool pads_nothing(const Node& node) {
  const auto* pad = ints_argument(node, "pad");
  return (node.target == "aten::pad" || node.target == "aten::constant_pad_nd") && pad &&
         std::all_of(pad->begin(), pad->end(), [](std::int64_t width) { return width == 0; });
}

// To integers, and to scalars such as a loss: -0 becomes another zero, which makes no other loss.
bool adds_zero(const Rewriter& rewriter, const Node& node, ValueId self) {
  const Value& to = rewriter.value(self);
  return (node.target == "aten::add.Scalar" || node.target == "aten::sub.Scalar") &&
         number_argument(node, "other") == 0.0 && (!is_floating(to.dtype) || to.sizes.empty());
}

bool does_nothing(const Rewriter& rewriter, const Node& node, ValueId self) {
  static const std::set<std::string_view> copies = {"aten::alias", "aten::clone", "aten::contiguous",
                                                    "aten::lift_fresh_copy", "aten::lift_fresh"};
  if (copies.contains(node.target)) return true;
  if (is_dropout(node)) return bool_argument(node, "train") == false || number_argument(node, "p") == 0.0;
  return pads_nothing(node) || adds_zero(rewriter, node, self);
}

}  // namespace

Model no_ops(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    ValueId self = sole_operand(node);
    if (self < 0 || !does_nothing(rewriter, node, self)) return false;
    const Value &before = rewriter.value(self), &after = rewriter.value(node.outputs[0]);
    if (before.sizes != after.sizes || before.dtype != after.dtype) return false;
    rewriter.replace(node.outputs[0], self);
    return true;
  });
}

}  // namespace planscope
