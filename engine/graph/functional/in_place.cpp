#include "engine/graph/functional/in_place.h"

#include <algorithm>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/pt2/names.h"

namespace planscope {
namespace {

// `aten::add_.Tensor` -> `aten::add.Tensor`, `aten::__iand__.Tensor` -> `aten::__and__.Tensor`
std::string pure_name(const std::string& target) {
  auto dot = target.find('.');
  std::string name = target.substr(0, dot), overload = dot == std::string::npos ? "" : target.substr(dot);
  if (name.starts_with("aten::__i") && name.ends_with("__")) return "aten::__" + name.substr(9) + overload;
  if (name.ends_with("_")) name.pop_back();
  return name + overload;
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

}  // namespace

ValueId emit_pure_form(Builder& builder, const Node& node, std::string& why) {
  ValueId self = node.arguments.empty() ? -1 : tensor_argument(node, node.arguments.front().name);
  if (self < 0) return why = "it has no tensor to write", -1;
  if (node.target == "aten::copy_") return emit_copy(builder, node, self, "src");
  if (node.target == "aten::fill_.Tensor") return emit_copy(builder, node, self, "value");
  if (node.target == "aten::fill_.Scalar")
    return emit_like_factory(builder, node, self, "aten::full_like", find_argument(node, "value"));
  if (node.target == "aten::zero_") return emit_like_factory(builder, node, self, "aten::zeros_like", nullptr);

  std::string name = pure_name(node.target);
  std::optional<Schema> schema = find_schema(name);
  for (std::string_view changes_sizes :
       {"resize", "set", "squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims", "as_strided"})
    if (short_name(name) == changes_sizes) schema.reset();
  if (!schema || name == node.target) return why = "there is no pure form of it", -1;
  std::vector<NamedArgument> arguments;
  for (const SchemaArgument& expected : schema->arguments) {
    const Argument* given = find_argument(node, expected.name);
    if (!given && !expected.initial) return why = "there is no pure form of it", -1;
    arguments.push_back({expected.name, given ? *given : *expected.initial});
  }
  const Value before = builder.value(self);
  DType type = gives_bool(short_name(name)) ? DType::boolean : promoted(builder, node);
  ValueId now = builder.emit(node, name, std::move(arguments), type, before.sizes);
  builder.model.nodes.back().random = node.random;
  return builder.emit_cast(node, now, before.dtype);
}

RunningStatistics emit_running_statistics(Builder& builder, Node& node) {
  ValueId input = tensor_argument(node, "input"), mean = tensor_argument(node, "running_mean"),
          variance = tensor_argument(node, "running_var");
  auto momentum = number_argument(node, "momentum");
  if (input < 0 || mean < 0 || variance < 0 || !momentum || builder.value(input).sizes.size() < 2) return {};
  Node like = node;
  like.no_grad = true;
  const Value source = builder.value(input);
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < source.sizes.size(); ++i)
    if (i != 1) dims.push_back(static_cast<std::int64_t>(i));
  std::vector<std::int64_t> channels = {source.sizes[1]};
  ValueId batch_mean = builder.emit(like, "aten::mean.dim",
                                    {{"self", Tensor{input}}, {"dim", dims}, {"keepdim", false}, {"dtype", None{}}},
                                    source.dtype, channels);
  ValueId batch_variance =
      builder.emit(like, "aten::var.correction",
                   {{"self", Tensor{input}}, {"dim", dims}, {"correction", std::int64_t{1}}, {"keepdim", false}},
                   source.dtype, channels);
  auto blend = [&](ValueId running, ValueId batch) {
    DType type = builder.value(running).dtype;
    batch = builder.emit_cast(like, batch, type);
    return builder.emit(like, "aten::lerp.Scalar",
                        {{"self", Tensor{running}}, {"end", Tensor{batch}}, {"weight", *momentum}}, type, channels);
  };
  RunningStatistics after{blend(mean, batch_mean), blend(variance, batch_variance)};
  *find_argument(node, "running_mean") = None{};
  *find_argument(node, "running_var") = None{};
  return after;
}

}  // namespace planscope
