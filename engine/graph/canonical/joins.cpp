// cat passes over operands of size [0], whatever their rank: what a list of tensors once began with. They say no more than
// their type.
#include <algorithm>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model joins(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
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
