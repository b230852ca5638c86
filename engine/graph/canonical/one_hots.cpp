// one_hot compares each number with every class: one_hot(x, n) = (x[.., 1] == arange(n)). An identity matrix is that of its rows'
// numbers, so that it has as many as what it is joined with: eye(n, m) = one_hot(arange(n), m).
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

namespace {

ValueId emit_numbers(Rewriter& rewriter, const Node& node, std::int64_t count, DType type) {
  return rewriter.emit(
      node, "aten::arange",
      {{"end", count}, {"dtype", type}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}}, type, {count});
}

}  // namespace

Model one_hots(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const bool identity = node.target == "aten::eye" || node.target == "aten::eye.m";
    if ((!identity && node.target != "aten::one_hot") || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const Value result = rewriter.value(node.outputs[0]);
    if (identity && result.sizes.size() != 2) return false;
    const ValueId self = identity ? emit_numbers(rewriter, node, result.sizes[0], DType::i64) : sole_operand(node);
    if (self < 0) return false;
    std::vector<std::int64_t> sizes = rewriter.value(self).sizes;
    if (result.sizes.size() != sizes.size() + 1) return false;
    sizes.push_back(1);
    const ValueId every = emit_numbers(rewriter, node, result.sizes.back(), rewriter.value(self).dtype);
    const ValueId viewed = rewriter.emit_view(node, self, sizes);
    const ValueId equal = rewriter.emit(node, "aten::eq.Tensor", {{"self", Tensor{viewed}}, {"other", Tensor{every}}},
                                        DType::boolean, result.sizes);
    rewriter.replace(node.outputs[0], rewriter.emit_cast(node, equal, result.dtype));
    return true;
  });
}

}  // namespace planscope
