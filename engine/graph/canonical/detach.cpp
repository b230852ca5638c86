// `aten::detach` where no gradient could flow is its operand: in no_grad, and of a value that no trained parameter
// reaches.
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/element_types.h"

namespace planscope {

Model detach(Model model) {
  std::vector<bool> carries(model.values.size(), false);
  for (std::size_t id = 0; id < model.values.size(); ++id) carries[id] = model.values[id].requires_grad;
  for (const Node& node : model.nodes) {
    bool any = false;
    for_each_tensor(node, [&](ValueId id) { any = any || carries[static_cast<std::size_t>(id)]; });
    if (!any || node.no_grad || node.target == "aten::detach") continue;
    for (ValueId id : node.outputs)
      if (id >= 0)
        carries[static_cast<std::size_t>(id)] = carries_gradient(model.values[static_cast<std::size_t>(id)].dtype);
  }
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) {
    ValueId self = sole_operand(node);
    if (node.target != "aten::detach" || self < 0) return false;
    if (carries[static_cast<std::size_t>(self)] && !node.no_grad) return false;
    rewriter.replace(node.outputs[0], self);
    return true;
  });
}

}  // namespace planscope
