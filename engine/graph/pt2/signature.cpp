#include "engine/graph/pt2/signature.h"

#include <algorithm>

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

// The keys of what forward returns, if that is a dictionary of tensors.
std::vector<std::string> dictionary_keys(std::string_view spec) {
  const Result<JsonDocument> document = JsonDocument::parse(spec);
  if (!document.ok()) return {};
  const std::vector<Json> parts = document->root().elements();
  if (parts.size() != 2 || !parts[1]["type"].text().ends_with("ict")) return {};
  const std::vector<Json> children = parts[1]["children_spec"].elements();
  if (!std::all_of(children.begin(), children.end(), [](Json c) { return c["children_spec"].elements().empty(); })) return {};
  const std::string context(parts[1]["context"].text());
  const Result<JsonDocument> keys = JsonDocument::parse(context);
  if (!keys.ok()) return {};
  std::vector<std::string> out;
  for (Json key : keys->root().elements()) out.emplace_back(key.text());
  return out.size() == children.size() ? out : std::vector<std::string>{};
}

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

bool read_outputs(Json signature, std::string_view returned, const Scope& scope, NodeReader& reader) {
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
    if (tag == "user_output" || tag == "loss_output") {
      model.outputs.push_back(id);
      model.output_names.emplace_back(name);
    }
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
  if (const auto keys = dictionary_keys(returned); keys.size() == model.outputs.size()) model.output_names = keys;
  if (const auto scalars = scalar_outputs(model); model.loss < 0 && !scalars.empty())
    model.loss = model.outputs[scalars[0]];
  return true;
}

}  // namespace planscope
