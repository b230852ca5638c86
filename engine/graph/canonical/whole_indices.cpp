// `aten::index.Tensor` whose every index is the whole range of its dimension, each along a result dimension of its own,
// only rearranges dimensions: permute, view, expand.
#include <algorithm>
#include <optional>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/counters.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

// The only dimension of `sizes` that is not 1; the last one if all are.
std::optional<std::size_t> varying(const Sizes& sizes) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (found) return std::nullopt;
    found = i;
  }
  if (!found && !sizes.empty()) found = sizes.size() - 1;
  return found;
}

struct Plan {
  Sizes dims;    // of the operand, in the order in which the result has them
  Sizes viewed;  // with ones between
};

// Where each indexed dimension goes in the result; nothing if the operator does more than rearrange.
std::optional<Plan> rearrangement(const Rewriter& rewriter, const Node& node) {
  ValueId self = tensor_argument(node, "self");
  const auto* indices = tensors_argument(node, "indices");
  if (self < 0 || !indices || indices->empty() || node.outputs.size() != 1) return std::nullopt;
  const Sizes &sizes = rewriter.value(self).sizes, &result = rewriter.value(node.outputs[0]).sizes;
  std::size_t count = indices->size();
  bool all_indexed = std::all_of(indices->begin(), indices->end(), [](Tensor t) { return t.id >= 0; });
  if (count > sizes.size() || !all_indexed || result.size() + count < sizes.size()) return std::nullopt;
  std::size_t broadcast_rank = result.size() + count - sizes.size();
  std::vector<std::int64_t> source(broadcast_rank, -1);
  for (std::size_t dim = 0; dim < count; ++dim) {
    ValueId index = (*indices)[dim].id;
    const Sizes& shape = rewriter.value(index).sizes;
    auto along = varying(shape);
    if (!along || shape.size() > broadcast_rank || rewriter.value(index).dtype == DType::boolean) return std::nullopt;
    std::size_t at = broadcast_rank - shape.size() + *along;
    if (source[at] >= 0 && shape[*along] == 1) {  // a size of 1 may stand anywhere
      auto free = std::find(source.rbegin(), source.rend(), -1);
      if (free == source.rend()) return std::nullopt;
      at = static_cast<std::size_t>(source.rend() - free) - 1;
    }
    if (source[at] >= 0 || shape[*along] != sizes[dim] || !counts_up(rewriter, index)) return std::nullopt;
    source[at] = static_cast<std::int64_t>(dim);
  }
  Plan plan;
  for (std::int64_t dim : source) {
    if (dim >= 0) plan.dims.push_back(dim);
    plan.viewed.push_back(dim >= 0 ? sizes[static_cast<std::size_t>(dim)] : 1);
  }
  for (std::size_t dim = count; dim < sizes.size(); ++dim) {
    plan.dims.push_back(static_cast<std::int64_t>(dim));
    plan.viewed.push_back(sizes[dim]);
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    if (plan.viewed[i] != result[i] && plan.viewed[i] != 1) return std::nullopt;
  return plan;
}

}  // namespace

Model whole_indices(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target != "aten::index.Tensor") return false;
    auto plan = rearrangement(rewriter, node);
    if (!plan) return false;
    const Sizes result = rewriter.value(node.outputs[0]).sizes;
    ValueId now = rewriter.emit_permute(node, tensor_argument(node, "self"), plan->dims);
    now = rewriter.emit_expand(node, rewriter.emit_view(node, now, plan->viewed), result);
    rewriter.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace planscope
