// A loss of elements that is reduced is the loss of each, then a mean or a sum: both can be split.
//
//   mse_loss(x, y, mean) = mean(mse_loss(x, y, none))
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

constexpr std::int64_t no_reduction = 0, mean = 1, sum = 2;

enum class Of { elements, rows };  // what one loss is of: rows are along the last dimension of the first operand

struct Row {
  std::string_view name;
  Of of;
};

constexpr std::array<Row, 14> rows = {{{"aten::mse_loss", Of::elements},
                                       {"aten::l1_loss", Of::elements},
                                       {"aten::smooth_l1_loss", Of::elements},
                                       {"aten::huber_loss", Of::elements},
                                       {"aten::kl_div", Of::elements},
                                       {"aten::binary_cross_entropy", Of::elements},
                                       {"aten::binary_cross_entropy_with_logits", Of::elements},
                                       {"aten::soft_margin_loss", Of::elements},
                                       {"aten::poisson_nll_loss", Of::elements},
                                       {"aten::hinge_embedding_loss", Of::elements},
                                       {"aten::margin_ranking_loss", Of::elements},
                                       {"aten::multi_margin_loss", Of::rows},
                                       {"aten::multilabel_margin_loss", Of::rows},
                                       {"aten::triplet_margin_loss", Of::rows}}};

// Sizes of a loss that is not reduced; nothing: its operands do not say.
std::optional<std::vector<std::int64_t>> sizes_of_each(const Rewriter& rewriter, const Node& node) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == node.target; });
  std::vector<std::vector<std::int64_t>> operands;
  for (const char* name : {"self", "input", "input1", "input2", "anchor", "positive", "negative", "target"})
    if (const ValueId id = tensor_argument(node, name); id >= 0) operands.push_back(rewriter.value(id).sizes);
  if (node.target == "aten::cosine_embedding_loss" && operands.size() == 3 && operands[0].size() == 2 &&
      operands[1] == operands[0] && operands[2].size() == 1)
    return operands[2];
  if (row == rows.end() || operands.size() < 2) return std::nullopt;
  std::vector<std::int64_t> sizes = operands[0];
  if (row->of == Of::elements) {
    for (const auto& o : operands)
      if (o != sizes) return std::nullopt;
    return sizes;
  }
  if (sizes.size() != 2) return std::nullopt;
  for (const auto& o : operands)
    if (o != sizes && o != std::vector<std::int64_t>{sizes[0]}) return std::nullopt;
  sizes.pop_back();
  return sizes;
}

}  // namespace

Model losses(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const auto reduction = int_argument(node, "reduction");
    if (!reduction || (*reduction != mean && *reduction != sum) || node.outputs.size() != 1 || node.outputs[0] < 0)
      return false;
    const auto sizes = sizes_of_each(rewriter, node);
    if (!sizes) return false;
    const DType type = rewriter.value(node.outputs[0]).dtype;
    std::vector<NamedArgument> arguments = node.arguments;
    for (NamedArgument& a : arguments)
      if (a.name == "reduction") a.value = no_reduction;
    std::vector<std::int64_t> dims(sizes->size());
    std::iota(dims.begin(), dims.end(), 0);
    const ValueId each = rewriter.emit(node, node.target, std::move(arguments), type, *sizes);
    rewriter.replace(
        node.outputs[0],
        rewriter.emit(node, *reduction == mean ? "aten::mean.dim" : "aten::sum.dim_IntList",
                      {{"self", Tensor{each}}, {"dim", dims}, {"keepdim", false}, {"dtype", None{}}}, type, {}));
    return true;
  });
}

}  // namespace planscope
