// one_hot compares each number with every class: one_hot(x, n) = (x[.., 1] == arange(n)).
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model one_hots(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const ValueId self = sole_operand(node);
    if (node.target != "aten::one_hot" || self < 0) return false;
    const Value result = rewriter.value(node.outputs[0]);
    std::vector<std::int64_t> sizes = rewriter.value(self).sizes;
    if (result.sizes.size() != sizes.size() + 1) return false;
    sizes.push_back(1);
    const DType type = rewriter.value(self).dtype;
    const std::int64_t classes = result.sizes.back();
    const ValueId every = rewriter.emit(
        node, "aten::arange",
        {{"end", classes}, {"dtype", type}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}}, type,
        {classes});
    const ValueId viewed = rewriter.emit_view(node, self, sizes);
    const ValueId equal = rewriter.emit(node, "aten::eq.Tensor", {{"self", Tensor{viewed}}, {"other", Tensor{every}}},
                                        DType::boolean, result.sizes);
    rewriter.replace(node.outputs[0], rewriter.emit_cast(node, equal, result.dtype));
    return true;
  });
}

}  // namespace planscope
