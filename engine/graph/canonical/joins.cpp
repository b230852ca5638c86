// hstack and its like are a cat where their operands have the dimension. A cat passes over operands of size [0], whatever their
// rank: what a list of tensors once began with. They say no more than their type.
#include <algorithm>
#include <optional>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

// The dimension along which `hstack`, `vstack` and the other stacks join operands of this rank. Nothing: it is another operator,
// or one that adds a dimension to its operands first.
std::optional<std::int64_t> stacked(std::string_view name, std::size_t rank) {
  if (name == "aten::hstack") return rank == 1 ? 0 : 1;
  if ((name == "aten::vstack" || name == "aten::row_stack") && rank >= 2) return 0;
  if (name == "aten::column_stack" && rank >= 2) return 1;
  if (name == "aten::dstack" && rank >= 3) return 2;
  return std::nullopt;
}

void as_cat(const Rewriter& rewriter, Node& node) {
  const auto* given = tensors_argument(node, "tensors");
  if (!given || given->empty()) return;
  const auto rank = [&](const Tensor& t) { return t.id < 0 ? 0 : rewriter.value(t.id).sizes.size(); };
  const std::size_t all = rank(given->front());
  const std::optional<std::int64_t> dim = all == 0 ? std::nullopt : stacked(node.target, all);
  if (!dim || std::any_of(given->begin(), given->end(), [&](const Tensor& t) { return rank(t) != all; })) return;
  node.target = "aten::cat";
  node.arguments.push_back({"dim", *dim});
}

}  // namespace

Model joins(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    as_cat(rewriter, node);
    const std::string_view name = std::string_view(node.target).substr(0, node.target.find('.'));
    if (name != "aten::cat" && name != "aten::concat" && name != "aten::concatenate") return false;
    const auto* given = tensors_argument(node, "tensors");
    if (!given || node.outputs.size() != 1) return false;
    const Value result = rewriter.value(node.outputs[0]);
    const auto says_nothing = [&](Tensor t) {
      return t.id >= 0 && rewriter.value(t.id).sizes == std::vector<std::int64_t>{0};
    };
    std::vector<Tensor> joined;
    std::copy_if(given->begin(), given->end(), std::back_inserter(joined), [&](Tensor t) { return !says_nothing(t); });
    if (joined.empty() || joined.size() == given->size()) return false;
    for (Tensor& t : joined)
      if (t.id >= 0) t.id = rewriter.emit_cast(node, t.id, result.dtype);
    if (joined.size() == 1 && joined[0].id >= 0 && rewriter.value(joined[0].id).sizes == result.sizes) {
      rewriter.replace(node.outputs[0], joined[0].id);
      return true;
    }
    *find_argument(node, "tensors") = std::move(joined);
    return false;
  });
}

}  // namespace planscope
