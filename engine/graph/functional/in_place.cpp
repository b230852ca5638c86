#include "engine/graph/functional/in_place.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/pt2/names.h"

namespace planscope {
namespace {

// `aten::add_.Tensor` -> `aten::add`, `aten::__iand__.Tensor` -> `aten::__and__`
std::string pure_name(const std::string& target) {
  static const std::map<std::string_view, std::string_view> others = {{"aten::normal_", "aten::normal_functional"}};
  std::string name = target.substr(0, target.find('.'));
  if (const auto other = others.find(name); other != others.end()) return std::string(other->second);
  if (name.starts_with("aten::__i") && name.ends_with("__")) return "aten::__" + name.substr(9);
  if (name.ends_with("_")) name.pop_back();
  return name;
}

// What the arguments of an in-place operator are to a pure one: the same by position and type; what the pure one has beyond
// them has its default value. Nothing: it is another operator.
std::optional<std::vector<NamedArgument>> as_arguments(const Node& node, const Schema& pure) {
  if (pure.outputs != 1 || pure.output_list || pure.arguments.size() < node.arguments.size()) return std::nullopt;
  std::vector<NamedArgument> arguments;
  for (std::size_t i = 0; i < pure.arguments.size(); ++i) {
    const SchemaArgument& expected = pure.arguments[i];
    if (expected.written) return std::nullopt;
    if (i < node.arguments.size()) {
      // A number may stand for a tensor (the pass `numbers` looks for it), but not for the tensor that is written.
      const bool fits = suits(node.arguments[i].value, expected) &&
                        (i > 0 || std::holds_alternative<Tensor>(node.arguments[i].value));
      if (!fits) return std::nullopt;
      arguments.push_back({expected.name, node.arguments[i].value});
    } else if (expected.initial) {
      arguments.push_back({expected.name, *expected.initial});
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// Overloads in the order of likeness: the one with the same name, then those that have tensors where the file has them.
std::optional<std::pair<std::string, std::vector<NamedArgument>>> pure_form(const Node& node) {
  const std::string name = pure_name(node.target);
  const auto dot = node.target.find('.');
  const std::string same = name + (dot == std::string::npos ? "" : node.target.substr(dot));
  std::vector<Schema> overloads = find_overloads(name);
  const auto likeness = [&](const Schema& schema) {
    int like = schema.name == same ? 1 : 0;
    for (std::size_t i = 0; i < std::min(schema.arguments.size(), node.arguments.size()); ++i)
      like += (schema.arguments[i].type == TypeKind::tensor) == std::holds_alternative<Tensor>(node.arguments[i].value)
                  ? 2
                  : 0;
    return like;
  };
  std::stable_sort(overloads.begin(), overloads.end(),
                   [&](const Schema& a, const Schema& b) { return likeness(a) > likeness(b); });
  for (const Schema& schema : overloads)
    if (auto arguments = as_arguments(node, schema)) return std::pair(schema.name, std::move(*arguments));
  return std::nullopt;
}

bool gives_bool(std::string_view kind) {
  static const std::set<std::string_view> kinds = {
      "eq",         "ne",          "lt",          "le",   "gt",         "ge",      "logical_and",
      "logical_or", "logical_xor", "logical_not", "less", "less_equal", "greater", "greater_equal",
      "not_equal"};
  return kinds.contains(kind);
}

int rank_of(DType type) {
  switch (type) {
    case DType::boolean:
      return 0;
    case DType::u8:
      return 1;
    case DType::i8:
      return 2;
    case DType::i16:
      return 3;
    case DType::i32:
      return 4;
    case DType::i64:
      return 5;
    case DType::f16:
    case DType::bf16:
      return 6;
    case DType::f32:
      return 7;
    case DType::f64:
      return 8;
    default:
      return 9;
  }
}

int category(DType type) { return type == DType::boolean ? 0 : is_floating(type) ? 2 : rank_of(type) < 6 ? 1 : 3; }

// The type of an elementwise result: that of the widest operand with dimensions, unless one without is of a higher
// kind.
DType promoted(const Builder& builder, const Node& node) {
  ValueId self = tensor_argument(node, "self");
  DType result = builder.value(self).dtype;
  bool result_has_dims = !builder.value(self).sizes.empty();
  for (std::string_view name : {"other", "exponent", "end", "tensor1", "tensor2"}) {
    ValueId id = tensor_argument(node, name);
    if (id < 0) continue;
    DType type = builder.value(id).dtype;
    bool has_dims = !builder.value(id).sizes.empty();
    bool equal_footing = has_dims == result_has_dims;
    bool wider = rank_of(type) > rank_of(result) || (rank_of(type) == rank_of(result) && type != result);
    if (equal_footing ? wider : has_dims ? category(type) >= category(result) : category(type) > category(result)) {
      if (equal_footing && rank_of(type) == rank_of(result)) type = DType::f32;  // float16 with bfloat16
      result = type;
    }
    result_has_dims = result_has_dims || has_dims;
  }
  return result;
}

ValueId emit_copy(Builder& builder, const Node& node, ValueId self, std::string_view source) {
  ValueId id = tensor_argument(node, source);
  if (id < 0) return -1;
  id = builder.emit_cast(node, id, builder.value(self).dtype);
  return builder.emit_expand(node, id, builder.value(self).sizes);
}

ValueId emit_like_factory(Builder& builder, const Node& node, ValueId self, std::string target, const Argument* fill) {
  const Value like = builder.value(self);
  std::vector<NamedArgument> arguments = {{"self", Tensor{self}}};
  if (fill) arguments.push_back({"fill_value", *fill});
  for (const char* name : {"dtype", "layout", "device", "pin_memory", "memory_format"})
    arguments.push_back({name, None{}});
  return builder.emit(node, std::move(target), std::move(arguments), like.dtype, like.sizes);
}

bool fills_once(const Value& self, const Node& node) {
  return self.sizes.size() == 2 && (bool_argument(node, "wrap") != true || self.sizes[0] <= self.sizes[1]);
}

ValueId emit_filled_diagonal(Builder& builder, const Node& node, ValueId self) {
  const Value like = builder.value(self);
  ValueId diagonal = builder.emit(node, "aten::eye.m",
                                  {{"n", like.sizes[0]},
                                   {"m", like.sizes[1]},
                                   {"dtype", DType::boolean},
                                   {"layout", None{}},
                                   {"device", None{}},
                                   {"pin_memory", None{}}},
                                  DType::boolean, like.sizes);
  return builder.emit(
      node, "aten::masked_fill.Scalar",
      {{"self", Tensor{self}}, {"mask", Tensor{diagonal}}, {"value", *find_argument(node, "fill_value")}}, like.dtype,
      like.sizes);
}

}  // namespace

ValueId emit_pure_form(Builder& builder, const Node& node, const std::vector<std::int64_t>& result_sizes,
                       std::string& why) {
  ValueId self = node.arguments.empty() ? -1 : tensor_argument(node, node.arguments.front().name);
  if (self < 0) return why = "it has no tensor to write", -1;
  if (node.target == "aten::copy_") return emit_copy(builder, node, self, "src");
  if (node.target == "aten::fill_.Tensor") return emit_copy(builder, node, self, "value");
  if (node.target == "aten::fill_.Scalar")
    return emit_like_factory(builder, node, self, "aten::full_like", find_argument(node, "value"));
  if (node.target == "aten::zero_") return emit_like_factory(builder, node, self, "aten::zeros_like", nullptr);

  if (node.target == "aten::fill_diagonal_" && fills_once(builder.value(self), node))
    return emit_filled_diagonal(builder, node, self);

  const Value before = builder.value(self);
  auto pure = pure_form(node);
  if (!pure) {  // run on a copy
    ValueId now = builder.emit(node, node.target, node.arguments, before.dtype, result_sizes);
    builder.model.nodes.back().random = node.random;
    return now;
  }
  DType type = node.random                        ? before.dtype
               : gives_bool(short_name(pure->first)) ? DType::boolean
                                                     : promoted(builder, node);
  ValueId now = builder.emit(node, std::move(pure->first), std::move(pure->second), type, before.sizes);
  builder.model.nodes.back().random = node.random;
  return builder.emit_cast(node, now, before.dtype);
}

std::optional<OutForm> out_form(const Node& node) {
  const auto dot = node.target.find('.');
  if (!node.target.starts_with("aten::") || dot == std::string::npos) return std::nullopt;
  for (const Schema& pure : find_overloads(node.target.substr(0, dot))) {
    const auto results = static_cast<std::size_t>(pure.outputs);
    if (pure.output_list || node.arguments.size() < results) continue;
    OutForm out{.target = pure.name, .arguments = {}, .written = {}};
    const auto behind = node.arguments.end() - static_cast<std::ptrdiff_t>(results);
    for (auto a = behind; a != node.arguments.end(); ++a)
      if (const auto* t = std::get_if<Tensor>(&a->value)) out.written.push_back(t->id);
    std::size_t used = 0;
    bool fits = out.written.size() == results;
    for (const SchemaArgument& expected : pure.arguments) {
      const auto given = std::find_if(node.arguments.begin(), behind, [&](const NamedArgument& a) { return a.name == expected.name; });
      if (expected.written || (given == behind && !expected.initial) || (given != behind && !suits(given->value, expected))) {
        fits = false;
        break;
      }
      used += given != behind;
      out.arguments.push_back({expected.name, given == behind ? *expected.initial : given->value});
    }
    if (fits && used == static_cast<std::size_t>(behind - node.arguments.begin())) return out;
  }
  return std::nullopt;
}

}  // namespace planscope
