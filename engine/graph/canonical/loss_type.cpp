// The loss stays in the type that it was computed in. A last cast to a narrower type would have to wait for the parts of
// all devices and micro-batches (a rounded sum is not the sum of rounded parts), and no gradient depends on it: that of
// the loss itself is 1.
#include <algorithm>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model loss_type(Model model) {
  const auto value = [&](ValueId v) -> const Value& { return model.values[static_cast<std::size_t>(v)]; };
  const auto producer = std::find_if(model.nodes.begin(), model.nodes.end(), [&](const Node& n) {
    return n.outputs.size() == 1 && n.outputs[0] == model.loss;
  });
  if (model.loss < 0 || producer == model.nodes.end() || producer->target != "aten::to.dtype") return model;
  const ValueId computed = sole_operand(*producer);
  if (computed < 0 || !is_floating(value(computed).dtype) ||
      byte_size(value(computed).dtype) <= byte_size(value(model.loss).dtype))
    return model;
  std::replace(model.outputs.begin(), model.outputs.end(), model.loss, computed);
  model.loss = computed;
  return model;
}

}  // namespace planscope
