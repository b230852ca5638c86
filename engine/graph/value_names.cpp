#include "engine/graph/value_names.h"

namespace planscope {

void name_values(Model& model) {
  for (const Node& node : model.nodes)
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] < 0) continue;
      Value& value = model.values[static_cast<std::size_t>(node.outputs[k])];
      if (value.kind != ValueKind::computed) continue;
      value.name = node.name() + (node.outputs.size() > 1 ? "[" + std::to_string(k) + "]" : "");
    }
}

}  // namespace planscope
