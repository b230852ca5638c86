// glu(x) = first half of x · sigmoid(second half)
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {

Model gates(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const ValueId self = sole_operand(node);
    if (node.target != "aten::glu" || self < 0) return false;
    const auto dim = wrap_dim(int_argument(node, "dim").value_or(-1), rewriter.value(self).sizes.size());
    const std::vector<std::int64_t> sizes = rewriter.value(node.outputs[0]).sizes;
    if (!dim || static_cast<std::size_t>(*dim) >= sizes.size()) return false;
    const DType type = rewriter.value(self).dtype;
    const std::int64_t half = sizes[static_cast<std::size_t>(*dim)];
    const auto part = [&](std::int64_t start) {
      return rewriter.emit(
          node, "aten::slice.Tensor",
          {{"self", Tensor{self}}, {"dim", *dim}, {"start", start}, {"end", start + half}, {"step", std::int64_t{1}}},
          type, sizes);
    };
    const ValueId first = part(0);
    const ValueId gate = rewriter.emit(node, "aten::sigmoid", {{"self", Tensor{part(half)}}}, type, sizes);
    rewriter.replace(node.outputs[0], rewriter.emit(node, "aten::mul.Tensor",
                                                    {{"self", Tensor{first}}, {"other", Tensor{gate}}}, type, sizes));
    return true;
  });
}

}  // namespace planscope
