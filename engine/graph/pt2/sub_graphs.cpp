// Sub-graphs: those that only set a mode, or ask for recomputation, are read in place; branches and loops are Models of
// their own.
#include <algorithm>
#include <array>

#include "engine/graph/pt2/node_reader.h"

namespace planscope {
namespace {

constexpr int deepest_sub_graph = 64;

// An operator whose sub-graphs stay: how many it has, and the names of its lists of operands in their order.
struct Form {
  std::string_view name;
  std::size_t graphs;
  std::vector<std::string_view> arguments;
};

const Form* find_form(std::string_view target) {
  static const std::array forms = {
      Form{"higher_order::cond", 2, {"predicate", "operands"}},
      Form{"higher_order::while_loop", 2, {"carried", "additional"}},
      Form{"higher_order::scan", 1, {"carried", "elements", "additional"}},
      Form{"higher_order::associative_scan", 1, {"elements", "additional"}},
      Form{"higher_order::map", 1, {"elements", "additional"}},
      Form{"higher_order::map_impl", 1, {"elements", "additional"}},
  };
  const auto form = std::find_if(forms.begin(), forms.end(), [&](const Form& f) { return f.name == target; });
  return form == forms.end() ? nullptr : &*form;
}

bool is_empty_list(const Argument& argument) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.empty(); }) return held.empty();
        return false;
      },
      argument);
}

// `Tensor` or a list of them, as the name says.
bool only_tensors(NamedArgument& argument) {
  if (argument.name == "predicate") {
    const auto* tensor = std::get_if<Tensor>(&argument.value);
    return tensor && tensor->id >= 0;
  }
  if (is_empty_list(argument.value) && !std::holds_alternative<std::string>(argument.value))
    argument.value = std::vector<Tensor>{};
  const auto* list = std::get_if<std::vector<Tensor>>(&argument.value);
  return list && std::all_of(list->begin(), list->end(), [](Tensor t) { return t.id >= 0; });
}

}  // namespace

// Which input of a node is a sub-graph that is read in place, with the modes that it sets.
std::optional<std::size_t> NodeReader::inlined_graph(Json node, Region& region) {
  constexpr std::string_view prefix = "torch.ops.higher_order.";
  std::string_view target = node["target"].text();
  if (!target.starts_with(prefix)) return std::nullopt;
  target.remove_prefix(prefix.size());
  std::vector<Json> inputs = node["inputs"].elements();
  const auto argument = [&](std::size_t k) { return k < inputs.size() ? inputs[k]["arg"] : Json(); };
  if (target == "wrap_with_set_grad_enabled") {
    region.no_grad = !argument(0)["as_bool"].boolean().value_or(true);
    return 1;
  }
  if (target == "wrap_with_autocast") {
    const bool cuda = argument(0)["as_string"].text() == "cuda";
    if (cuda || argument(0)["as_string"].text() == "cpu") {
      const DType type = read_dtype(argument(1)["as_scalar_type"]).value_or(cuda ? DType::f16 : DType::bf16);
      region.autocast.of(cuda) =
          argument(2)["as_bool"].boolean().value_or(true) ? std::optional<DType>(type) : std::nullopt;
    }
    return 4;
  }
  if (target == "tag_activation_checkpoint" || target == "wrap_activation_checkpoint" || target == "invoke_subgraph")
    return 0;
  return std::nullopt;
}

bool NodeReader::read_inlined(Json json, Scope& scope, const Region& region, std::size_t graph_argument) {
  std::vector<Json> operands = json["inputs"].elements();
  if (graph_argument >= operands.size()) return fail("the graph is damaged", "a call has no sub-graph");
  Json graph = operands[graph_argument]["arg"]["as_graph"]["graph"];
  std::vector<Json> inputs = graph["inputs"].elements(), results = graph["outputs"].elements(),
                    outputs = json["outputs"].elements();
  operands.erase(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(graph_argument) + 1);
  std::erase_if(operands, [](Json operand) {  // a keyword, or the identifier of a sub-graph
    return operand["kind"].integer() == 2 || tagged(operand["arg"]).tag == "as_string";
  });
  if (!graph.is_object() || inputs.size() != operands.size())
    return fail("the graph is damaged", "a sub-graph has other operands than its call");
  if (depth_ >= deepest_sub_graph) return fail("the graph is damaged", "sub-graphs are nested too deeply");
  Scope inner = make_scope(graph, bounds_);
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
  bool complete = read_nodes(graph["nodes"], inner, region);
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


bool NodeReader::read_bodies(Json json, const Scope& scope, const Region& region, Node& node, std::string& why) {
  const Form* form = find_form(node.target);
  if (!form) return why = "sub-graphs of this kind are not read", false;
  std::vector<Json> graphs;
  for (Json input : json["inputs"].elements()) {
    auto [tag, value] = tagged(input["arg"]);
    if (input["kind"].integer() == 2) continue;
    if (tag == "as_graph") {
      graphs.push_back(value["graph"]);
      continue;
    }
    auto argument = read_argument(input["arg"], nullptr, scope, why);
    if (!argument) return false;
    if (node.arguments.size() == form->arguments.size()) return why = "it has more operands than are known", false;
    node.arguments.push_back({std::string(form->arguments[node.arguments.size()]), std::move(*argument)});
    if (!only_tensors(node.arguments.back())) return why = "an operand of its sub-graphs is no tensor", false;
  }
  if (graphs.size() != form->graphs || node.arguments.size() != form->arguments.size())
    return why = "its sub-graphs are not those that are known", false;
  std::size_t operands = 0;
  for (const NamedArgument& argument : node.arguments)
    if (const auto* list = std::get_if<std::vector<Tensor>>(&argument.value)) operands += list->size();
  for (Json graph : graphs) {
    RawModel body;
    if (!read_body(graph, region, body, why)) return false;
    const std::size_t twice =  // two elements are combined
        node.kind == "associative_scan" ? std::get<std::vector<Tensor>>(node.arguments[0].value).size() : 0;
    if (body.model.inputs.size() != operands + twice) return why = "a sub-graph has other operands than its call", false;
    for (const Node& inner : body.model.nodes) node.random = node.random || inner.random;
    bodies_.push_back(std::move(body));
  }
  node.target = "planscope::" + node.kind;
  if (node.target == "planscope::map_impl") node.target = "planscope::map";
  return true;
}

bool NodeReader::read_body(Json graph, const Region& region, RawModel& body, std::string& why) {
  if (depth_ >= deepest_sub_graph) return fail("the graph is damaged", "sub-graphs are nested too deeply");
  NodeReader reader(body, bounds_, depth_ + 1);
  Scope inner = make_scope(graph, bounds_);
  for (Json input : graph["inputs"].elements()) {
    std::string_view name = input["as_tensor"]["name"].text();
    if (name.empty()) return why = "an operand of its sub-graphs is no tensor", false;
    const ValueId id = reader.add_value(name, inner, ValueKind::input);
    if (id >= 0) body.model.inputs.push_back(id);
    if (id >= 0) body.model.values[static_cast<std::size_t>(id)].name = name;
  }
  const bool complete = !has_errors(reader.diagnostics) && reader.read_nodes(graph["nodes"], inner, region);
  for (Diagnostic& diagnostic : reader.diagnostics) diagnostics.push_back(std::move(diagnostic));
  if (!complete) return false;
  for (Json output : graph["outputs"].elements()) {
    const auto made = inner.tensors.find(output["as_tensor"]["name"].text());
    if (made == inner.tensors.end()) return why = "a result of its sub-graphs is no tensor", false;
    body.model.outputs.push_back(made->second);
  }
  for (std::string& name : body.model.data_numbers) raw.model.data_numbers.push_back(std::move(name));
  return true;
}

}  // namespace planscope
