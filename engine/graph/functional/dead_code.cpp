#include "engine/graph/functional/dead_code.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {
namespace {

std::vector<bool> live_values(const Model& model) {
  std::vector<bool> live(model.values.size(), false);
  auto mark = [&](ValueId id) {
    if (id >= 0) live[static_cast<std::size_t>(id)] = true;
  };
  for (ValueId id : model.outputs) mark(id);
  mark(model.loss);
  for (const Mutation& mutation : model.mutations) mark(mutation.buffer), mark(mutation.value);
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    bool reached = std::any_of(node->outputs.begin(), node->outputs.end(),
                               [&](ValueId id) { return id >= 0 && live[static_cast<std::size_t>(id)]; });
    if (!reached) continue;
    for (ValueId id : node->outputs) mark(id);
    for_each_tensor(*node, mark);
  }
  for (ValueId id : model.inputs) mark(id);
  return live;
}

}  // namespace

Model remove_dead_nodes(Model model) {
  std::vector<bool> live = live_values(model);
  std::vector<ValueId> renumbered(model.values.size(), -1);
  std::vector<Value> values;
  auto keep = [&](ValueId id) {
    auto index = static_cast<std::size_t>(id);
    if (id < 0 || !live[index] || renumbered[index] >= 0) return;
    renumbered[index] = static_cast<ValueId>(values.size());
    values.push_back(std::move(model.values[index]));
  };
  std::erase_if(model.nodes, [&](const Node& node) {
    return std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId id) { return id >= 0 && live[static_cast<std::size_t>(id)]; });
  });
  for (ValueKind kind : {ValueKind::input, ValueKind::parameter, ValueKind::buffer, ValueKind::constant})
    for (std::size_t id = 0; id < model.values.size(); ++id)
      if (live[id] && renumbered[id] < 0 && model.values[id].kind == kind) keep(static_cast<ValueId>(id));
  for (const Node& node : model.nodes)
    for (ValueId id : node.outputs) keep(id);
  auto map = [&](ValueId id) { return id < 0 ? id : renumbered[static_cast<std::size_t>(id)]; };
  for (Node& node : model.nodes) {
    map_tensors(node, map);
    for (ValueId& id : node.outputs) id = map(id);
  }
  for (ValueId& id : model.inputs) id = map(id);
  for (ValueId& id : model.outputs) id = map(id);
  model.loss = map(model.loss);
  for (Mutation& mutation : model.mutations) mutation = {map(mutation.buffer), map(mutation.value)};
  std::erase_if(model.weights, [&](const Weight& weight) { return map(weight.value) < 0; });
  for (Weight& weight : model.weights) weight.value = map(weight.value);
  model.values = std::move(values);
  return model;
}

}  // namespace planscope
