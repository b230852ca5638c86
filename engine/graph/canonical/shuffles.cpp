// pixel_shuffle, pixel_unshuffle and channel_shuffle are views and a permutation.
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

// Views as `before`, permutes what is behind `lead` leading dimensions, views as the result.
bool shuffle(Rewriter& rewriter, const Node& node, const Sizes& before, std::size_t lead, const Sizes& order) {
  Sizes dims(lead);
  std::iota(dims.begin(), dims.end(), 0);
  for (const std::int64_t d : order) dims.push_back(static_cast<std::int64_t>(lead) + d);
  const Sizes result = rewriter.value(node.outputs[0]).sizes;
  const ValueId viewed = rewriter.emit_view(node, sole_operand(node), before);
  rewriter.replace(node.outputs[0], rewriter.emit_view(node, rewriter.emit_permute(node, viewed, dims), result));
  return true;
}

}  // namespace

Model shuffles(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const ValueId self = sole_operand(node);
    if (self < 0) return false;
    Sizes sizes = rewriter.value(self).sizes;
    const std::size_t rank = sizes.size();
    const std::int64_t up = int_argument(node, "upscale_factor").value_or(0),
                       down = int_argument(node, "downscale_factor").value_or(0),
                       groups = int_argument(node, "groups").value_or(0);
    if (node.target == "aten::pixel_shuffle" && rank >= 3 && up > 0) {
      Sizes before(sizes.begin(), sizes.end() - 3);
      before.insert(before.end(), {sizes[rank - 3] / (up * up), up, up, sizes[rank - 2], sizes[rank - 1]});
      return shuffle(rewriter, node, before, rank - 3, {0, 3, 1, 4, 2});
    }
    if (node.target == "aten::pixel_unshuffle" && rank >= 3 && down > 0) {
      Sizes before(sizes.begin(), sizes.end() - 3);
      before.insert(before.end(), {sizes[rank - 3], sizes[rank - 2] / down, down, sizes[rank - 1] / down, down});
      return shuffle(rewriter, node, before, rank - 3, {0, 2, 4, 1, 3});
    }
    const bool channels = node.target == "aten::channel_shuffle" || node.target == "aten::native_channel_shuffle";
    if (channels && rank >= 3 && groups > 0 && sizes[1] % groups == 0) {
      Sizes before = sizes;
      before[1] = groups;
      before.insert(before.begin() + 2, sizes[1] / groups);
      Sizes order = {1, 0};
      for (std::size_t d = 2; d < rank; ++d) order.push_back(static_cast<std::int64_t>(d));
      return shuffle(rewriter, node, before, 1, order);
    }
    return false;
  });
}

}  // namespace planscope
