// chunk and every split are `aten::split_with_sizes` with literal sizes.
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {

Model splits(Model model) {
  static const std::set<std::string_view> targets = {"aten::chunk",
                                                     "aten::split.Tensor",
                                                     "aten::split.sizes",
                                                     "aten::split_with_sizes",
                                                     "aten::unsafe_chunk",
                                                     "aten::unsafe_split.Tensor",
                                                     "aten::unsafe_split_with_sizes",
                                                     "aten::tensor_split.sections",
                                                     "aten::tensor_split.indices"};
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    ValueId self = tensor_argument(node, "self");
    auto dim = int_argument(node, "dim");
    if (!targets.contains(node.target) || self < 0 || !dim || node.outputs.empty()) return false;
    std::size_t rank = rewriter.value(self).sizes.size();
    dim = wrap_dim(*dim, rank);
    if (!dim || rank == 0) return false;
    std::vector<std::int64_t> sizes;
    for (ValueId id : node.outputs) {
      if (id < 0 || rewriter.value(id).sizes.size() != rank) return false;
      sizes.push_back(rewriter.value(id).sizes[static_cast<std::size_t>(*dim)]);
    }
    if (node.outputs.size() == 1 && rewriter.value(node.outputs[0]).sizes == rewriter.value(self).sizes) {
      rewriter.replace(node.outputs[0], self);
      return true;
    }
    node.target = "aten::split_with_sizes";
    node.arguments = {{"self", Tensor{self}}, {"split_sizes", sizes}, {"dim", *dim}};
    return false;
  });
}

}  // namespace planscope
