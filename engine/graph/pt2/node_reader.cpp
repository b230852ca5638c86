#include "engine/graph/pt2/node_reader.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {
namespace {

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

// Sizes or strides; nothing if one is not there or (sizes) negative or their product is out of bounds. `bounded`: where
// an upper bound stands for a size that depends on data.
std::optional<std::vector<std::int64_t>> read_extents(Json list, const Scope& scope, bool sizes,
                                                      std::vector<int>& bounded) {
  std::vector<std::int64_t> result;
  std::int64_t count = 1;
  if (!list.is_array()) return std::nullopt;
  for (Json element : list.elements()) {
    scope.met_bound = false;
    auto extent = hinted_integer(element, scope);
    if (scope.met_bound) bounded.push_back(static_cast<int>(result.size()));
    if (!extent || *extent < 0 || *extent > largest_count || result.size() == most_dimensions) return std::nullopt;
    if (sizes && *extent > 0 && count > largest_count / *extent) return std::nullopt;
    if (sizes) count *= std::max<std::int64_t>(*extent, 1);
    result.push_back(*extent);
  }
  return result;
}

// A symbol without a value among sizes, and without a bound.
std::string_view unbounded_symbol(Json list, const Scope& scope) {
  for (Json element : list.elements()) {
    Json expression = element["as_expr"];
    if (expression.missing() || !expression["hint"].missing() || hinted_integer(element, scope)) continue;
    return expression["expr_str"].text();
  }
  return {};
}

// The number of elements of a mask, or of whatever the operator finds its rows in; -1: it is no such operator.
std::int64_t most_rows(const Model& model, const Node& node) {
  const auto elements = [&](ValueId id) {
    return id < 0 ? -1 : element_count(model.values[static_cast<std::size_t>(id)].sizes);
  };
  const std::string_view name = std::string_view(node.target).substr(0, node.target.find('.'));
  if (name == "aten::masked_select") return elements(tensor_argument(node, "mask"));
  if (name == "aten::nonzero" || name == "aten::_unique2" || name == "aten::_unique" || name == "aten::argwhere" ||
      name.starts_with("aten::unique_"))
    return elements(tensor_argument(node, "self"));
  if (node.target == "aten::where") return elements(tensor_argument(node, "condition"));  // of a condition alone: its indices
  const auto* indices = name == "aten::index" ? tensors_argument(node, "indices") : nullptr;
  for (std::size_t k = 0; indices && k < indices->size(); ++k) {
    const ValueId id = (*indices)[k].id;
    if (id >= 0 && model.values[static_cast<std::size_t>(id)].dtype == DType::boolean) return elements(id);
  }
  return -1;
}

// The sizes that it is given are those of its result, whatever they are at run time.
bool only_shapes(const Node& node) {
  for (std::string_view name : {"aten::view", "aten::reshape", "aten::_unsafe_view", "aten::expand", "aten::unflatten"})
    if (node.target == name || node.target.starts_with(std::string(name) + ".")) return true;
  return false;
}

// Operators that divide by how many elements there are, of an operand for which only a bound of that is known.
bool counts_bounded(const Model& model, const Node& node) {
  const std::string_view name = std::string_view(node.target).substr(0, node.target.find('.'));
  for (std::string_view counts : {"aten::var", "aten::std", "aten::var_mean", "aten::std_mean", "aten::batch_norm",
                                  "aten::instance_norm", "aten::native_batch_norm"}) {
    if (name != counts || node.arguments.empty()) continue;
    const auto* self = std::get_if<Tensor>(&node.arguments.front().value);
    return self && self->id >= 0 && !model.values[static_cast<std::size_t>(self->id)].bounded.empty();
  }
  return false;
}

bool draws_random_numbers(const Schema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const SchemaArgument& a) { return a.type == TypeKind::generator; });
}

// Whether the first result is of complex128.
bool makes_wide_complex(Json node, const Scope& scope) {
  for (Json output : node["outputs"].elements()) {
    const auto metadata = scope.metadata.find(output["as_tensor"]["name"].text());
    return metadata != scope.metadata.end() && read_dtype(metadata->second["dtype"]) == DType::c128;
  }
  return false;
}

// Layers and cells that are made of products: `lstm.input`, `gru_cell`.
bool is_recurrent(std::string_view target) {
  const auto begins = [&](std::string_view name) { return target.starts_with(name); };
  return begins("aten::lstm") || begins("aten::gru") || begins("aten::rnn_tanh") || begins("aten::rnn_relu");
}

// The overload that takes a tensor where the file has a complex number and this one takes a Scalar, which holds real numbers
// alone here: `fill_.Tensor` for `fill_.Scalar`.
std::optional<std::string> with_complex_tensors(const std::vector<Json>& inputs, const Schema& known) {
  const auto is_complex_number = [&](const std::string& name) {
    const auto given = std::find_if(inputs.begin(), inputs.end(), [&](Json input) { return input["name"].text() == name; });
    return given != inputs.end() && (*given)["arg"]["as_complex"].is_object();
  };
  const auto wanted = [&](const SchemaArgument& a) { return a.type == TypeKind::scalar && is_complex_number(a.name); };
  if (std::none_of(known.arguments.begin(), known.arguments.end(), wanted)) return std::nullopt;
  for (const Schema& other : find_overloads(known.name.substr(0, known.name.find('.')))) {
    const auto suits = [&](const SchemaArgument& a, const SchemaArgument& b) {
      return a.name == b.name && b.type == (wanted(a) ? TypeKind::tensor : a.type) && a.list == b.list;
    };
    if (std::equal(known.arguments.begin(), known.arguments.end(), other.arguments.begin(), other.arguments.end(), suits))
      return other.name;
  }
  return std::nullopt;
}

bool is_random(const Node& node, const Schema* schema) {
  std::string_view target = node.target;
  target = target.substr(0, target.find('.'));
  if (target.ends_with('_')) target.remove_suffix(1);  // in place
  for (std::string_view name : {"aten::dropout", "aten::alpha_dropout", "aten::feature_dropout", "aten::feature_alpha_dropout",
                                "aten::native_dropout", "aten::rrelu"})
    if (target == name) return true;
  for (const char* probability : {"dropout_p", "dropout"})  // of attentions and recurrent layers
    if (number_argument(node, probability).value_or(0) > 0) return bool_argument(node, "train").value_or(true);
  for (std::string_view name : {"aten::rand", "aten::randn", "aten::randint", "aten::randperm"})
    if (node.target.starts_with(name)) return true;
  return schema && draws_random_numbers(*schema);
}

}  // namespace

Scope make_scope(Json graph, const SymbolBounds& bounds) {
  Scope scope;
  scope.bounds = &bounds;
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
  std::vector<int> bounded, ignored;
  auto sizes = read_extents(json["sizes"], scope, true, bounded),
       strides = read_extents(json["strides"], scope, false, ignored);
  if (std::string_view symbol = unbounded_symbol(json["sizes"], scope); !symbol.empty())
    return fail("a size depends on data and has no upper bound",
                "the sizes of " + quoted + " have " + std::string(symbol),
                "say how large it can be (torch._check(n <= 1024)) in the model, and export it again"),
           -1;
  if (!dtype || !sizes || !strides || sizes->size() != strides->size())
    return fail("the graph is damaged", "type, sizes or strides of " + quoted + " cannot be read"), -1;
  Value value;
  value.kind = kind;
  value.dtype = *dtype;
  value.sizes = std::move(*sizes);
  value.bounded = std::move(bounded);
  value.requires_grad = kind == ValueKind::parameter && json["requires_grad"].boolean().value_or(false);
  auto id = static_cast<ValueId>(raw.model.values.size());
  if (!scope.tensors.emplace(name, id).second) return fail("the graph is damaged", quoted + " is made twice"), -1;
  raw.model.values.push_back(std::move(value));
  raw.strides.push_back(std::move(*strides));
  raw.on_cuda.push_back(json["device"]["type"].text() == "cuda");
  return id;
}

ValueId NodeReader::add_absent() {
  Value value;
  value.dtype = DType::other;
  value.sizes = {0};
  raw.model.values.push_back(std::move(value));
  raw.strides.push_back({1});
  raw.on_cuda.push_back(false);
  return static_cast<ValueId>(raw.model.values.size()) - 1;
}

void NodeReader::note_bounds(Json json, const Scope& scope, const Node& node) {
  const std::int64_t rows = most_rows(raw.model, node);
  if (rows < 0) return;
  for (Json output : json["outputs"].elements()) {
    std::string_view name = output["as_tensor"]["name"].text();
    auto metadata = scope.metadata.find(name);
    if (metadata == scope.metadata.end()) continue;
    for (Json size : metadata->second["sizes"].elements()) {
      Json expression = size["as_expr"];
      std::string_view symbol = sole_symbol(expression["expr_str"].text());
      if (symbol.empty() || !expression["hint"].missing()) continue;
      auto [row, fresh] = bounds_.try_emplace(std::string(symbol), rows);
      if (!fresh) row->second = std::min(row->second, rows);
    }
  }
}

const Schema* NodeReader::schema(const std::string& target) {
  auto [row, fresh] = schemas_.try_emplace(target);
  if (fresh) row->second = find_schema(target);
  return row->second ? &*row->second : nullptr;
}

bool NodeReader::read_nodes(Json nodes, Scope& scope, const Region& region) {
  if (!nodes.is_array()) return fail("the graph is damaged", "it has no list of nodes");
  for (Json node : nodes.elements())
    if (!read_node(node, scope, region)) return false;
  return true;
}

bool NodeReader::read_node(Json json, Scope& scope, const Region& region) {
  std::string_view target = json["target"].text();
  if (target.empty()) return fail("the graph is damaged", "a node has no target");
  std::vector<Json> outputs = json["outputs"].elements();
  if (is_assertion(target)) return true;
  if (!outputs.empty() && std::all_of(outputs.begin(), outputs.end(), is_symbolic)) return true;  // a hint is known
  Region inner = region;
  if (const auto graph = inlined_graph(json, inner)) return read_inlined(json, scope, inner, *graph);

  Node node;
  node.target = operator_name(target);
  node.kind = short_name(node.target);
  node.no_grad = region.no_grad;
  Json metadata = json["metadata"];
  auto [row, fresh] = modules_.try_emplace(metadata["nn_module_stack"].text());
  if (fresh) row->second = innermost_module(row->first);
  node.module = row->second.path;
  node.module_type = row->second.type;
  node.call = row->second.call;
  node.source = source_line(metadata["stack_trace"].text());
  std::string why;
  scope.met_bound = false;
  bodies_.clear();
  if (!read_arguments(json, scope, region, node, why)) {
    if (has_errors(diagnostics)) return false;
    bodies_.clear();
    make_opaque(json, scope, node, why);
  }
  if ((scope.met_bound && !only_shapes(node)) || counts_bounded(raw.model, node))
    raw.model.data_numbers.push_back(node.target + (node.module.empty() ? "" : " in " + node.module));
  node.random = node.random || is_random(node, schema(node.target));
  note_bounds(json, scope, node);
  std::vector<RawModel> bodies = std::move(bodies_);
  if (region.autocast.cpu || region.autocast.cuda) {
    cast_operands(json, scope, region, node);
    if (is_recurrent(node.target)) warn_inner_types(node);
  }
  if (!read_outputs(json, scope, node)) return false;
  if (node.target.ends_with("predispatch._add_batch_dim")) warn_vmap(node);
  if (node.outputs.empty() && !schema(node.target)) warn_without_result(node);
  if (!bodies.empty()) raw.bodies.emplace(raw.model.nodes.size(), std::move(bodies));
  raw.model.nodes.push_back(std::move(node));
  return true;
}

// A complex number in the place of a tensor: one without dimensions, made of its two parts before the node.
ValueId NodeReader::complex_number(Json number, bool wide, const Node& like) {
  const DType part = wide ? DType::f64 : DType::f32, type = wide ? DType::c128 : DType::c64;
  const auto emit = [&](const char* target, std::vector<NamedArgument> arguments, DType made) {
    const auto id = static_cast<ValueId>(raw.model.values.size());
    Value value;
    value.dtype = made;
    raw.model.values.push_back(std::move(value));
    raw.strides.emplace_back();
    Node node = like;
    node.target = target;
    node.kind = short_name(node.target);
    node.arguments = std::move(arguments);
    node.outputs = {id};
    raw.model.nodes.push_back(std::move(node));
    return id;
  };
  const auto scalar = [&](const char* name) {
    return Tensor{emit("aten::scalar_tensor",
                       {{"s", number[name].number().value_or(0)},
                        {"dtype", part},
                        {"layout", None{}},
                        {"device", None{}},
                        {"pin_memory", None{}}},
                       part)};
  };
  const Tensor real = scalar("real"), imaginary = scalar("imag");
  return emit("aten::complex", {{"real", real}, {"imag", imaginary}}, type);
}

bool NodeReader::read_arguments(Json json, const Scope& scope, const Region& region, Node& node, std::string& why) {
  std::vector<Json> inputs = json["inputs"].elements();
  const Schema* known = schema(node.target);
  if (!known) {
    if (node.target.starts_with("higher_order::")) return read_bodies(json, scope, region, node, why);
    for (Json input : inputs) {
      auto argument = read_argument(input["arg"], nullptr, scope, why);
      if (!argument) return why = "argument \"" + std::string(input["name"].text()) + "\": " + why, false;
      node.arguments.push_back({std::string(input["name"].text()), std::move(*argument)});
    }
    return true;
  }
  if (const std::optional<std::string> other = with_complex_tensors(inputs, *known)) {
    node.target = *other;
    known = schema(node.target);
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
      const Json number = (*given)["arg"]["as_complex"];
      if (number.is_object() && expected.type == TypeKind::tensor && !expected.list)
        argument = Tensor{complex_number(number, makes_wide_complex(json, scope), node)};
      else
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

void NodeReader::warn_inner_types(const Node& node) {
  Diagnostic diagnostic = warning("its numbers are not quite those of PyTorch under autocast",
                                  "PyTorch casts each product inside of it, and the file says nothing of them",
                                  "leave it out of autocast: with torch.autocast(…, enabled=False)");
  diagnostic.subject = node.target + (node.module.empty() ? "" : " in " + node.module);
  diagnostics.push_back(std::move(diagnostic));
}

// Once a file.
void NodeReader::warn_vmap(const Node& node) {
  if (!opaque_.try_emplace("vmap", diagnostics.size(), 1).second) return;
  Diagnostic diagnostic = warning(
      "the file has what torch.vmap maps as it is for one element of the batch: its FLOPs and its memory are those of one element, it "
      "is not split, and a stand-in runs for it",
      "torch.export keeps torch.vmap until the program is decomposed",
      "save torch.export.export(…).run_decompositions({}): there its operators have the whole batch");
  diagnostic.subject = "torch.vmap" + (node.module.empty() ? "" : " in " + node.module);
  diagnostics.push_back(std::move(diagnostic));
}

void NodeReader::warn_without_result(const Node& node) {
  Diagnostic diagnostic = warning("it gives no result: it is left out",
                                  "what it may write into its operands is not said in the file",
                                  "let it return what it makes");
  diagnostic.subject = node.target + (node.module.empty() ? "" : " in " + node.module);
  diagnostics.push_back(std::move(diagnostic));
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
    ValueId id = name.empty() ? add_absent() : add_value(name, scope, ValueKind::computed);
    node.outputs.push_back(id);
    return id >= 0;
  };
  for (Json output : json["outputs"].elements()) {
    auto [tag, value] = tagged(output);
    if (tag == "as_tensors" || tag == "as_optional_tensors") {
      for (Json element : value.elements())
        if (!add(tag == "as_tensors" ? element["name"].text() : element["as_tensor"]["name"].text())) return false;
    } else if (!add(tag == "as_tensor" ? value["name"].text() : value["as_tensor"]["name"].text())) {
      return false;
    }
  }
  return true;
}

}  // namespace planscope
