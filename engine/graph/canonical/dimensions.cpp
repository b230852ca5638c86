// Dimensions of all other operators, non-negative.
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

// Of the tensor that the dimensions count in: the result's where there is one dimension more.
std::optional<std::size_t> counted_rank(const Model& model, const Node& node) {
  if (node.arguments.empty()) return std::nullopt;
  ValueId id = -1;
  if (const auto* tensor = std::get_if<Tensor>(&node.arguments.front().value)) id = tensor->id;
  if (const auto* list = std::get_if<std::vector<Tensor>>(&node.arguments.front().value))
    if (!list->empty()) id = list->front().id;
  if (id < 0) return std::nullopt;
  std::size_t rank = model.values[static_cast<std::size_t>(id)].sizes.size();
  return node.target == "aten::stack" || node.target == "aten::diag_embed" ? rank + 1 : rank;
}

}  // namespace

Model dimensions(Model model) {
  static const std::set<std::string_view> names = {"dim", "dims", "dim0", "dim1", "dim2"};
  for (Node& node : model.nodes) {
    auto rank = counted_rank(model, node);
    if (!rank || !node.target.starts_with("aten::")) continue;
    for (NamedArgument& argument : node.arguments) {
      if (!names.contains(argument.name)) continue;
      if (auto* dim = std::get_if<std::int64_t>(&argument.value)) *dim = wrap_dim(*dim, *rank).value_or(*dim);
      if (auto* dims = std::get_if<std::vector<std::int64_t>>(&argument.value))
        for (std::int64_t& dim : *dims) dim = wrap_dim(dim, *rank).value_or(dim);
    }
  }
  return model;
}

}  // namespace planscope
