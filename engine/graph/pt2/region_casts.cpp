// Under autocast the operands of an operator are cast as its policy says. The file gives the types of the results.
#include "engine/graph/arguments.h"
#include "engine/graph/pt2/node_reader.h"

namespace planscope {

namespace {

// The type that eligible operands become; nothing: they stay.
std::optional<DType> target_type(AutocastPolicy policy, DType low, bool one_is_float, std::optional<DType> result) {
  switch (policy) {
    case AutocastPolicy::none:
      return std::nullopt;
    case AutocastPolicy::low:
      return low;
    case AutocastPolicy::full:
      return DType::f32;
    case AutocastPolicy::widest:
      return one_is_float ? DType::f32 : low;
    case AutocastPolicy::results:
      return result == low || result == DType::f32 ? result : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

ValueId NodeReader::cast(ValueId operand, DType type, const Node& reader) {
  Node node;
  node.module = reader.module;
  node.call = reader.call;
  node.module_type = reader.module_type;
  node.source = reader.source;
  node.no_grad = reader.no_grad;
  node.kind = "to";
  node.target = "aten::to.dtype";
  node.arguments = {{"self", Tensor{operand}},
                    {"dtype", type},
                    {"non_blocking", false},
                    {"copy", false},
                    {"memory_format", None{}}};
  const auto from = static_cast<std::size_t>(operand);
  Value value;
  value.dtype = type;
  value.sizes = raw.model.values[from].sizes;
  value.bounded = raw.model.values[from].bounded;
  const auto made = static_cast<ValueId>(raw.model.values.size());
  raw.model.values.push_back(std::move(value));
  raw.strides.push_back(std::vector<std::int64_t>(raw.strides[from]));
  raw.on_cuda.push_back(raw.on_cuda[from]);
  node.outputs = {made};
  raw.model.nodes.push_back(std::move(node));
  return made;
}

void NodeReader::cast_operands(Json json, const Scope& scope, const Region& region, Node& node) {
  const auto eligible = [&](ValueId id, bool cuda) {
    const auto index = static_cast<std::size_t>(id);
    const DType type = raw.model.values[index].dtype;
    return raw.on_cuda[index] == cuda && is_floating(type) && type != DType::f64;
  };
  for (const bool cuda : {false, true}) {
    const std::optional<DType> low = region.autocast.of(cuda);
    if (!low) continue;
    bool any = false, one_is_float = false;
    for_each_tensor(node, [&](ValueId id) {
      if (!eligible(id, cuda)) return;
      any = true;
      one_is_float = one_is_float || raw.model.values[static_cast<std::size_t>(id)].dtype == DType::f32;
    });
    if (!any) continue;
    std::optional<DType> result;
    if (const std::vector<Json> outputs = json["outputs"].elements(); !outputs.empty())
      if (const auto metadata = scope.metadata.find(outputs.front()["as_tensor"]["name"].text());
          metadata != scope.metadata.end())
        result = read_dtype(metadata->second["dtype"]);
    AutocastPolicy policy = autocast_policy(node.target, cuda);
    const DType* asked = nullptr;  // of softmax, sum, …: what is asked for is what is computed in
    if (const Argument* dtype = find_argument(node, "dtype")) asked = std::get_if<DType>(dtype);
    if (policy == AutocastPolicy::full && asked) policy = AutocastPolicy::none;
    const auto type = target_type(policy, *low, one_is_float, result);
    if (!type) continue;
    map_tensors(node, [&](ValueId id) {
      return eligible(id, cuda) && raw.model.values[static_cast<std::size_t>(id)].dtype != *type ? cast(id, *type, node)
                                                                                                 : id;
    });
  }
}

}  // namespace planscope
