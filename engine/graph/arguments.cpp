#include "engine/graph/arguments.h"

namespace planscope {
namespace {

template <class T>
const T* typed(const Node& node, std::string_view name) {
  const Argument* argument = find_argument(node, name);
  return argument ? std::get_if<T>(argument) : nullptr;
}

template <class T>
std::optional<T> copied(const Node& node, std::string_view name) {
  const T* value = typed<T>(node, name);
  return value ? std::optional<T>(*value) : std::nullopt;
}

}  // namespace

const Argument* find_argument(const Node& node, std::string_view name) {
  for (const NamedArgument& argument : node.arguments)
    if (argument.name == name) return &argument.value;
  return nullptr;
}

Argument* find_argument(Node& node, std::string_view name) {
  return const_cast<Argument*>(find_argument(static_cast<const Node&>(node), name));
}

bool is_none(const Node& node, std::string_view name) {
  const Argument* argument = find_argument(node, name);
  return !argument || std::holds_alternative<None>(*argument);
}

ValueId tensor_argument(const Node& node, std::string_view name) {
  const Tensor* tensor = typed<Tensor>(node, name);
  return tensor ? tensor->id : -1;
}

std::optional<std::int64_t> int_argument(const Node& node, std::string_view name) {
  return copied<std::int64_t>(node, name);
}

std::optional<bool> bool_argument(const Node& node, std::string_view name) { return copied<bool>(node, name); }

std::optional<double> number_argument(const Node& node, std::string_view name) {
  if (auto integer = int_argument(node, name)) return static_cast<double>(*integer);
  return copied<double>(node, name);
}

std::optional<DType> dtype_argument(const Node& node, std::string_view name) { return copied<DType>(node, name); }

std::optional<std::string> string_argument(const Node& node, std::string_view name) {
  return copied<std::string>(node, name);
}

const std::vector<std::int64_t>* ints_argument(const Node& node, std::string_view name) {
  return typed<std::vector<std::int64_t>>(node, name);
}

const std::vector<Tensor>* tensors_argument(const Node& node, std::string_view name) {
  return typed<std::vector<Tensor>>(node, name);
}

void for_each_tensor(const Node& node, const std::function<void(ValueId)>& visit) {
  for (const NamedArgument& argument : node.arguments) {
    if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
      if (tensor->id >= 0) visit(tensor->id);
    } else if (const auto* tensors = std::get_if<std::vector<Tensor>>(&argument.value)) {
      for (const Tensor& element : *tensors)
        if (element.id >= 0) visit(element.id);
    }
  }
}

void map_tensors(Node& node, const std::function<ValueId(ValueId)>& map) {
  if (node.like >= 0) node.like = map(node.like);
  for (NamedArgument& argument : node.arguments) {
    if (auto* tensor = std::get_if<Tensor>(&argument.value)) {
      if (tensor->id >= 0) tensor->id = map(tensor->id);
    } else if (auto* tensors = std::get_if<std::vector<Tensor>>(&argument.value)) {
      for (Tensor& element : *tensors)
        if (element.id >= 0) element.id = map(element.id);
    }
  }
}

std::int64_t element_count(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  return count;
}

}  // namespace planscope
