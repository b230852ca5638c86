// A loss of elements that is reduced is the loss of each, then a mean or a sum: both can be split.
//
//   mse_loss(x, y, mean) = mean(mse_loss(x, y, none))
#include <algorithm>
#include <array>
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

constexpr std::int64_t no_reduction = 0, mean = 1, sum = 2;

bool is_loss_of_elements(const std::string& target) {
  constexpr std::array<std::string_view, 6> names = {
      "aten::mse_loss", "aten::smooth_l1_loss",       "aten::huber_loss",
      "aten::kl_div",   "aten::binary_cross_entropy", "aten::binary_cross_entropy_with_logits"};
  return std::find(names.begin(), names.end(), target) != names.end();
}

}  // namespace

Model losses(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const ValueId self = tensor_argument(node, "self"), target = tensor_argument(node, "target");
    const auto reduction = int_argument(node, "reduction");
    if (!is_loss_of_elements(node.target) || self < 0 || target < 0 || node.outputs.size() != 1 || !reduction)
      return false;
    const std::vector<std::int64_t> sizes = rewriter.value(self).sizes;
    if ((*reduction != mean && *reduction != sum) || rewriter.value(target).sizes != sizes) return false;
    const DType type = rewriter.value(node.outputs[0]).dtype;
    std::vector<NamedArgument> arguments = node.arguments;
    for (NamedArgument& a : arguments)
      if (a.name == "reduction") a.value = no_reduction;
    std::vector<std::int64_t> dims(sizes.size());
    std::iota(dims.begin(), dims.end(), 0);
    const ValueId each = rewriter.emit(node, node.target, std::move(arguments), type, sizes);
    rewriter.replace(
        node.outputs[0],
        rewriter.emit(node, *reduction == mean ? "aten::mean.dim" : "aten::sum.dim_IntList",
                      {{"self", Tensor{each}}, {"dim", dims}, {"keepdim", false}, {"dtype", None{}}}, type, {}));
    return true;
  });
}

}  // namespace planscope
