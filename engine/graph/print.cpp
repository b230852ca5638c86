#include "engine/graph/print.h"

#include <charconv>
#include <cmath>

namespace planscope {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + "." : text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

struct Printer {
  std::string operator()(None) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(DType value) const { return std::string(to_string(value)); }
  std::string operator()(Device) const { return "device"; }
  std::string operator()(MemoryFormat value) const { return "memory_format:" + std::to_string(value.code); }
  std::string operator()(Tensor value) const { return value.id < 0 ? "none" : "%" + std::to_string(value.id); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + (*this)(static_cast<T>(values[i]));
    return text + "]";
  }
};

std::string type_of(const Value& value) {
  std::string text = std::string(to_string(value.dtype)) + "[";
  for (std::size_t i = 0; i < value.sizes.size(); ++i) text += (i ? "," : "") + std::to_string(value.sizes[i]);
  return text + "]";
}

const char* kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::input:
      return "input";
    case ValueKind::parameter:
      return "parameter";
    case ValueKind::buffer:
      return "buffer";
    case ValueKind::constant:
      return "constant";
    case ValueKind::computed:
      return "computed";
  }
  return "";
}

}  // namespace

std::string to_string(const Argument& argument) { return std::visit(Printer{}, argument); }

std::string print(const Model& model, const Node& node) {
  std::string text = node.name();
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    ValueId id = node.outputs[i];
    text += i ? ", " : " ";
    text += id < 0 ? "_" : "%" + std::to_string(id) + ": " + type_of(model.values[static_cast<std::size_t>(id)]);
  }
  text += " = " + node.target + "(";
  for (std::size_t i = 0; i < node.arguments.size(); ++i)
    text += (i ? ", " : "") + node.arguments[i].name + "=" + to_string(node.arguments[i].value);
  text += ")";
  if (node.no_grad) text += " no_grad";
  if (node.random) text += " random";
  if (node.like >= 0) text += " like %" + std::to_string(node.like);
  return text;
}

std::string print(const Model& model) {
  std::string text;
  for (std::size_t id = 0; id < model.values.size(); ++id) {
    const Value& value = model.values[id];
    if (value.kind == ValueKind::computed) continue;
    text += std::string(kind_name(value.kind)) + " %" + std::to_string(id) + " " + value.name;
    for (const std::string& alias : value.aliases) text += " = " + alias;
    text += ": " + type_of(value);
    if (value.kind == ValueKind::parameter && !value.requires_grad) text += " frozen";
    if (value.kind == ValueKind::buffer && !value.persistent) text += " not_persistent";
    text += "\n";
  }
  for (const Node& node : model.nodes) text += print(model, node) + "\n";
  for (ValueId id : model.outputs) text += (id == model.loss ? "loss %" : "output %") + std::to_string(id) + "\n";
  for (const Mutation& mutation : model.mutations)
    text += "mutation %" + std::to_string(mutation.buffer) + " becomes %" + std::to_string(mutation.value) + "\n";
  for (const std::string& name : model.unused_parameters) text += "unused " + name + "\n";
  return text;
}

}  // namespace planscope
