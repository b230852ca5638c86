#include "engine/graph/pt2/signature.h"

namespace planscope {
namespace {

struct InputSpec {
  ValueKind kind = ValueKind::input;
  std::string name;
  bool persistent = true;
};

std::unordered_map<std::string_view, InputSpec> input_specs(Json signature) {
  std::unordered_map<std::string_view, InputSpec> specs;
  for (Json json : signature["input_specs"].elements()) {
    auto [tag, spec] = tagged(json);
    std::string_view placeholder = spec["arg"]["name"].text();
    if (tag == "parameter")
      specs[placeholder] = {ValueKind::parameter, std::string(spec["parameter_name"].text())};
    else if (tag == "buffer")
      specs[placeholder] = {ValueKind::buffer, std::string(spec["buffer_name"].text()),
                            spec["persistent"].boolean().value_or(true)};
    else if (tag == "tensor_constant")
      specs[placeholder] = {ValueKind::constant, std::string(spec["tensor_constant_name"].text())};
    else if (tag == "user_input")
      placeholder = spec["arg"]["as_tensor"]["name"].text(),
      specs[placeholder] = {ValueKind::input, std::string(placeholder)};
  }
  return specs;
}

bool is_scalar_float(const Value& value) { return value.sizes.empty() && is_floating(value.dtype); }

}  // namespace

bool read_inputs(Json graph, Json signature, Scope& scope, NodeReader& reader) {
  auto specs = input_specs(signature);
  Model& model = reader.raw.model;
  for (Json json : graph["inputs"].elements()) {
    std::string_view name = json["as_tensor"]["name"].text();
    if (name.empty()) continue;  // a symbolic number, a token or a script object
    auto spec = specs.find(name);
    if (spec == specs.end())
      return reader.fail("the graph is damaged", "the signature does not name the input \"" + std::string(name) + "\"");
    ValueId id = reader.add_value(name, scope, spec->second.kind);
    if (id < 0) return false;
    Value& value = model.values[static_cast<std::size_t>(id)];
    value.name = spec->second.name;
    value.persistent = spec->second.persistent;
    if (value.kind == ValueKind::input) model.inputs.push_back(id);
  }
  return true;
}

bool read_outputs(Json signature, const Scope& scope, NodeReader& reader) {
  Model& model = reader.raw.model;
  auto find = [&](std::string_view name) {
    auto found = scope.tensors.find(name);
    return found == scope.tensors.end() ? -1 : found->second;
  };
  auto find_named = [&](ValueKind kind, std::string_view name) {
    for (std::size_t id = 0; id < model.values.size(); ++id)
      if (model.values[id].kind == kind && model.values[id].name == name) return static_cast<ValueId>(id);
    return -1;
  };
  for (Json json : signature["output_specs"].elements()) {
    auto [tag, spec] = tagged(json);
    std::string_view name = spec["arg"]["as_tensor"]["name"].text();
    if (name.empty()) name = spec["arg"]["name"].text();
    if (name.empty()) continue;  // a number or none
    ValueId id = find(name);
    if (id < 0) return reader.fail("the graph is damaged", "no node makes the output \"" + std::string(name) + "\"");
    if (tag == "user_output" || tag == "loss_output") model.outputs.push_back(id);
    if (tag == "loss_output") model.loss = id;
    ValueId target = -1;
    if (tag == "buffer_mutation") target = find_named(ValueKind::buffer, spec["buffer_name"].text());
    if (tag == "parameter_mutation") target = find_named(ValueKind::parameter, spec["parameter_name"].text());
    if (tag == "user_input_mutation") target = find_named(ValueKind::input, spec["user_input_name"].text());
    if (target >= 0) model.mutations.push_back({target, id});
    if (tag.starts_with("gradient_to_"))
      return reader.fail("the program computes gradients already", "it was exported with forward and backward",
                         "export the forward pass that returns the loss");
  }
  for (ValueId id : model.outputs)
    if (model.loss < 0 && is_scalar_float(model.values[static_cast<std::size_t>(id)])) model.loss = id;
  return true;
}

}  // namespace planscope
