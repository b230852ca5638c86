#include "engine/graph/batch_of_one.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {

bool batch_of_one(const Model& model) {
  return std::any_of(model.inputs.begin(), model.inputs.end(), [&](ValueId v) {
    const auto& sizes = model.values[static_cast<std::size_t>(v)].sizes;
    return !sizes.empty() && sizes[0] == 1;
  });
}

std::vector<bool> of_inputs(const Model& model) {
  std::vector<bool> out(model.values.size(), false);
  for (const ValueId v : model.inputs) out[static_cast<std::size_t>(v)] = true;
  for (const Node& node : model.nodes) {
    bool any = false;
    for_each_tensor(node, [&](ValueId v) { any = any || out[static_cast<std::size_t>(v)]; });
    for (const ValueId v : node.outputs)
      if (v >= 0) out[static_cast<std::size_t>(v)] = any;
  }
  return out;
}

}  // namespace planscope
