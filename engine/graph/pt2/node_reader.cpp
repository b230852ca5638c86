#include "engine/graph/pt2/node_reader.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {
namespace {

constexpr int deepest_sub_graph = 64;
constexpr std::int64_t largest_count = std::int64_t{1} << 50;
constexpr std::size_t most_dimensions = 64;

// Checks of the exporter's own, without results: they hold for the example that was exported.
bool is_assertion(std::string_view target) {
  for (std::string_view name : {"_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range"})
    if (target.find(name) != std::string_view::npos) return true;
  return false;
}

bool is_symbolic(Json output) {
  std::string_view tag = tagged(output).tag;
  return tag.starts_with("as_sym_") || tag == "as_int" || tag == "as_bool" || tag == "as_float";
}

// Sizes or strides; nothing if one is not there or (sizes) negative or their product is out of bounds.
std::optional<std::vector<std::int64_t>> read_extents(Json list, const Scope& scope, bool sizes) {
  std::vector<std::int64_t> result;
  std::int64_t count = 1;
  if (!list.is_array()) return std::nullopt;
  for (Json element : list.elements()) {
    auto extent = hinted_integer(element, scope);
    if (!extent || *extent < 0 || *extent > largest_count || result.size() == most_dimensions) return std::nullopt;
    if (sizes && *extent > 0 && count > largest_count / *extent) return std::nullopt;
    if (sizes) count *= std::max<std::int64_t>(*extent, 1);
    result.push_back(*extent);
  }
  return result;
}

bool draws_random_numbers(const Schema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const SchemaArgument& a) { return a.type == TypeKind::generator; });
}

bool is_random(const Node& node, const Schema* schema) {
  for (std::string_view name : {"aten::dropout", "aten::dropout_", "aten::alpha_dropout", "aten::feature_dropout",
                                "aten::native_dropout", "aten::rrelu"})
    if (node.target == name) return true;
  for (const char* probability : {"dropout_p", "dropout"})  // of attentions and recurrent layers
    if (number_argument(node, probability).value_or(0) > 0) return bool_argument(node, "train").value_or(true);
  for (std::string_view name : {"aten::rand", "aten::randn", "aten::randint", "aten::randperm"})
    if (node.target.starts_with(name)) return true;
  return schema && draws_random_numbers(*schema);
}

}  // namespace

Scope make_scope(Json graph) {
  Scope scope;
  for (auto [name, value] : graph["tensor_values"].members()) scope.metadata.emplace(name, value);
  for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"})
    for (auto [name, value] : graph[table].members()) scope.symbols.emplace(name, value);
  return scope;
}

bool NodeReader::fail(std::string what, std::string why, std::string hint) {
  diagnostics.push_back(error(std::move(what), std::move(why), std::move(hint)));
  return false;
}

ValueId NodeReader::add_value(std::string_view name, Scope& scope, ValueKind kind) {
  auto metadata = scope.metadata.find(name);
  std::string quoted = "\"" + std::string(name) + "\"";
  if (metadata == scope.metadata.end()) return fail("the graph is damaged", "no sizes for " + quoted), -1;
  Json json = metadata->second;
  auto dtype = read_dtype(json["dtype"]);
  auto sizes = read_extents(json["sizes"], scope, true), strides = read_extents(json["strides"], scope, false);
  if (!dtype || !sizes || !strides || sizes->size() != strides->size())
    return fail("the graph is damaged", "type, sizes or strides of " + quoted + " cannot be read"), -1;
  Value value;
  value.kind = kind;
  value.dtype = *dtype;
  value.sizes = std::move(*sizes);
  value.requires_grad = kind == ValueKind::parameter && json["requires_grad"].boolean().value_or(false);
  auto id = static_cast<ValueId>(raw.model.values.size());
  if (!scope.tensors.emplace(name, id).second) return fail("the graph is damaged", quoted + " is made twice"), -1;
  raw.model.values.push_back(std::move(value));
  raw.strides.push_back(std::move(*strides));
  return id;
}

const Schema* NodeReader::schema(const std::string& target) {
  auto [row, fresh] = schemas_.try_emplace(target);
  if (fresh) row->second = find_schema(target);
  return row->second ? &*row->second : nullptr;
}

bool NodeReader::read_nodes(Json nodes, Scope& scope, bool no_grad) {
  if (!nodes.is_array()) return fail("the graph is damaged", "it has no list of nodes");
  for (Json node : nodes.elements())
    if (!read_node(node, scope, no_grad)) return false;
  return true;
}

bool NodeReader::read_node(Json json, Scope& scope, bool no_grad) {
  std::string_view target = json["target"].text();
  if (target.empty()) return fail("the graph is damaged", "a node has no target");
  std::vector<Json> inputs = json["inputs"].elements(), outputs = json["outputs"].elements();
  if (is_assertion(target)) return true;
  if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), is_symbolic)) return true;  // a hint is known
  if (target == "torch.ops.higher_order.wrap_with_set_grad_enabled" && inputs.size() >= 2)
    return read_inlined(json, scope, !inputs[0]["arg"]["as_bool"].boolean().value_or(true), 1);
  if (target == "torch.ops.higher_order.wrap_with_autocast" && inputs.size() >= 5 &&
      inputs[2]["arg"]["as_bool"].boolean() == false)
    return read_inlined(json, scope, no_grad, 4);

  Node node;
  node.target = operator_name(target);
  node.kind = short_name(node.target);
  node.no_grad = no_grad;
  Json metadata = json["metadata"];
  auto [row, fresh] = modules_.try_emplace(metadata["nn_module_stack"].text());
  if (fresh) row->second = innermost_module(row->first);
  node.module = row->second.path;
  node.module_type = row->second.type;
  node.call = row->second.call;
  node.source = source_line(metadata["stack_trace"].text());
  std::string why;
  if (!read_arguments(json, scope, node, why)) make_opaque(json, scope, node, why);
  node.random = is_random(node, schema(node.target));
  if (!read_outputs(json, scope, node)) return false;
  raw.model.nodes.push_back(std::move(node));
  return true;
}

bool NodeReader::read_inlined(Json json, Scope& scope, bool no_grad, std::size_t graph_argument) {
  std::vector<Json> operands = json["inputs"].elements();
  Json graph = operands[graph_argument]["arg"]["as_graph"]["graph"];
  std::vector<Json> inputs = graph["inputs"].elements(), results = graph["outputs"].elements(),
                    outputs = json["outputs"].elements();
  operands.erase(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(graph_argument) + 1);
  if (!graph.is_object() || inputs.size() != operands.size())
    return fail("the graph is damaged", "a sub-graph has other operands than its call");
  if (depth_ >= deepest_sub_graph) return fail("the graph is damaged", "sub-graphs are nested too deeply");
  Scope inner = make_scope(graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::string_view name = inputs[i]["as_tensor"]["name"].text(),
                     given = operands[i]["arg"]["as_tensor"]["name"].text();
    if (name.empty()) continue;  // a symbolic number
    auto value = scope.tensors.find(given);
    if (value == scope.tensors.end())
      return fail("the graph is damaged", "no node makes \"" + std::string(given) + "\"");
    inner.tensors[name] = value->second;
  }
  ++depth_;
  bool complete = read_nodes(graph["nodes"], inner, no_grad);
  --depth_;
  if (!complete) return false;
  // The call's outputs: one tensor each, or a list.
  if (outputs.size() == 1 && tagged(outputs[0]).tag == "as_tensors") {
    std::vector<Json> listed = outputs[0]["as_tensors"].elements();
    outputs.assign(listed.begin(), listed.end());
  }
  if (outputs.size() != results.size())
    return fail("the graph is damaged", "a sub-graph has other results than its call");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string_view name = outputs[i]["as_tensor"]["name"].text(), made = results[i]["as_tensor"]["name"].text();
    if (name.empty()) name = outputs[i]["name"].text();
    if (name.empty()) continue;
    auto value = inner.tensors.find(made);
    if (value == inner.tensors.end())
      return fail("the graph is damaged", "no node makes \"" + std::string(made) + "\"");
    scope.tensors[name] = value->second;
  }
  return true;
}

bool NodeReader::read_arguments(Json json, const Scope& scope, Node& node, std::string& why) {
  std::vector<Json> inputs = json["inputs"].elements();
  const Schema* known = schema(node.target);
  if (!known) {
    if (node.target.starts_with("higher_order::")) return why = "sub-graphs of this kind are not read", false;
    for (Json input : inputs) {
      auto argument = read_argument(input["arg"], nullptr, scope, why);
      if (!argument) return why = "argument \"" + std::string(input["name"].text()) + "\": " + why, false;
      node.arguments.push_back({std::string(input["name"].text()), std::move(*argument)});
    }
    return true;
  }
  std::size_t used = 0;
  node.arguments.reserve(known->arguments.size());
  for (const SchemaArgument& expected : known->arguments) {
    auto given =
        std::find_if(inputs.begin(), inputs.end(), [&](Json input) { return input["name"].text() == expected.name; });
    if (given == inputs.end() && !expected.initial) return why = "argument \"" + expected.name + "\" is missing", false;
    std::optional<Argument> argument = expected.initial;
    if (given != inputs.end()) {
      ++used;
      argument = read_argument((*given)["arg"], &expected, scope, why);
    }
    if (!argument) return why = "argument \"" + expected.name + "\": " + why, false;
    node.arguments.push_back({expected.name, std::move(*argument)});
  }
  if (used != inputs.size()) why = "it has arguments that the operator does not know";
  return used == inputs.size();
}

// One warning an operator and reason, however many layers have it.
void NodeReader::warn_opaque(const Node& node, const std::string& why) {
  auto [row, fresh] = opaque_.try_emplace(node.target + "\n" + why, diagnostics.size(), 0);
  auto& [index, count] = row->second;
  ++count;
  std::string times = count > 1 ? " (" + std::to_string(count) + " times)" : "";
  Diagnostic diagnostic = warning("kept as it is, replicated: it cannot be read" + times, why);
  diagnostic.subject = node.target + (node.module.empty() ? "" : " in " + node.module);
  if (fresh) {
    diagnostics.push_back(std::move(diagnostic));
  } else {
    diagnostics[index].what = diagnostic.what;
  }
}

void NodeReader::make_opaque(Json json, const Scope& scope, Node& node, const std::string& why) {
  warn_opaque(node, why);
  std::vector<Tensor> operands;
  std::string ignored;
  for (Json input : json["inputs"].elements()) {
    auto argument = read_argument(input["arg"], nullptr, scope, ignored);
    if (!argument) continue;
    if (const auto* tensor = std::get_if<Tensor>(&*argument); tensor && tensor->id >= 0) operands.push_back(*tensor);
    if (const auto* tensors = std::get_if<std::vector<Tensor>>(&*argument))
      std::copy_if(tensors->begin(), tensors->end(), std::back_inserter(operands), [](Tensor t) { return t.id >= 0; });
  }
  node.arguments = {{"operator", node.target}, {"operands", std::move(operands)}};
  node.target = "planscope::opaque";
}

bool NodeReader::read_outputs(Json json, Scope& scope, Node& node) {
  auto add = [&](std::string_view name) {
    ValueId id = name.empty() ? -1 : add_value(name, scope, ValueKind::computed);
    node.outputs.push_back(id);
    return name.empty() || id >= 0;
  };
  for (Json output : json["outputs"].elements()) {
    auto [tag, value] = tagged(output);
    std::vector<Json> list =
        tag == "as_tensors" || tag == "as_optional_tensors" ? value.elements() : std::vector<Json>{};
    if (tag == "as_tensor" && !add(value["name"].text())) return false;
    if (tag == "as_optional_tensor" && !add(value["as_tensor"]["name"].text())) return false;
    if (tag == "as_none") add({});
    for (Json element : list) {
      std::string_view name = tag == "as_tensors" ? element["name"].text() : element["as_tensor"]["name"].text();
      if (!add(name)) return false;
    }
  }
  return true;
}

}  // namespace planscope
