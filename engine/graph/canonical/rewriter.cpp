#include "engine/graph/canonical/rewriter.h"

#include "engine/graph/arguments.h"

namespace planscope {

void Rewriter::replace(ValueId old, ValueId now) {
  auto index = static_cast<std::size_t>(old);
  if (replaced_.size() <= index) replaced_.resize(model.values.size(), -1);
  replaced_[index] = now;
}

ValueId Rewriter::current(ValueId id) const {
  auto index = static_cast<std::size_t>(id);
  return id >= 0 && index < replaced_.size() && replaced_[index] >= 0 ? replaced_[index] : id;
}

void Rewriter::note_producers() {
  producers_.resize(model.values.size(), -1);
  for (; noted_ < model.nodes.size(); ++noted_)
    for (ValueId id : model.nodes[noted_].outputs)
      if (id >= 0) producers_[static_cast<std::size_t>(id)] = static_cast<int>(noted_);
}

const Node* Rewriter::producer(ValueId id) const {
  auto index = static_cast<std::size_t>(id);
  if (id < 0 || index >= producers_.size() || producers_[index] < 0) return nullptr;
  return &model.nodes[static_cast<std::size_t>(producers_[index])];
}

Model rewrite(Model model, const std::function<bool(Rewriter&, Node&)>& visit) {
  std::vector<Node> nodes = std::move(model.nodes);
  model.nodes.clear();
  model.nodes.reserve(nodes.size() + nodes.size() / 4);
  Rewriter rewriter(model);
  auto current = [&](ValueId id) { return rewriter.current(id); };
  for (Node& node : nodes) {
    if (rewriter.replaces()) map_tensors(node, current);
    if (!visit(rewriter, node)) model.nodes.push_back(std::move(node));
    rewriter.note_producers();
  }
  for (ValueId& id : model.outputs) id = current(id);
  if (model.loss >= 0) model.loss = current(model.loss);
  for (Mutation& mutation : model.mutations) mutation.value = current(mutation.value);
  return model;
}

ValueId sole_operand(const Node& node) {
  if (node.outputs.size() != 1 || node.outputs.front() < 0 || node.arguments.empty()) return -1;
  const auto* tensor = std::get_if<Tensor>(&node.arguments.front().value);
  return tensor ? tensor->id : -1;
}

}  // namespace planscope
