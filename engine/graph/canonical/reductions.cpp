// sum and mean name the dimensions that they reduce.
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model reductions(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    bool sums = node.target == "aten::sum" || node.target == "aten::sum.dim_IntList";
    bool means = node.target == "aten::mean" || node.target == "aten::mean.dim";
    ValueId self = sole_operand(node);
    if ((!sums && !means) || self < 0) return false;
    const auto* given = ints_argument(node, "dim");
    std::vector<std::int64_t> dims = given ? *given : std::vector<std::int64_t>{};
    if (rewriter.value(self).sizes.empty())
      dims.clear();
    else if (dims.empty()) {
      dims.resize(rewriter.value(self).sizes.size());
      std::iota(dims.begin(), dims.end(), 0);
    }
    bool keeps = bool_argument(node, "keepdim").value_or(false);
    const Argument* dtype = find_argument(node, "dtype");
    Argument type = dtype ? *dtype : Argument(None{});
    node.arguments = {{"self", Tensor{self}}, {"dim", std::move(dims)}, {"keepdim", keeps}, {"dtype", std::move(type)}};
    node.target = sums ? "aten::sum.dim_IntList" : "aten::mean.dim";
    return false;
  });
}

}  // namespace planscope
