// A Python number in the place of a tensor: the operator's `.Scalar` overload, or a tensor of no dimensions.
#include <algorithm>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/schemas.h"

namespace planscope {
namespace {

bool is_number(const Argument& argument) {
  return std::holds_alternative<std::int64_t>(argument) || std::holds_alternative<double>(argument) ||
         std::holds_alternative<bool>(argument);
}

bool takes(const SchemaArgument& expected, const NamedArgument& given) {
  return expected.name == given.name && !expected.list &&
         (expected.type == TypeKind::tensor) == std::holds_alternative<Tensor>(given.value);
}

bool takes(const Schema& schema, const Node& node) {
  return schema.arguments.size() == node.arguments.size() &&
         std::equal(schema.arguments.begin(), schema.arguments.end(), node.arguments.begin(),
                    [](const SchemaArgument& a, const NamedArgument& b) { return takes(a, b); });
}

// The type that a number takes beside tensors: theirs, unless it is of a higher kind.
DType type_beside(const Rewriter& rewriter, const Node& node, const Argument& number) {
  DType type = std::holds_alternative<double>(number) ? DType::f32
               : std::holds_alternative<bool>(number) ? DType::boolean
                                                      : DType::i64;
  for_each_tensor(node, [&](ValueId id) {
    DType other = rewriter.value(id).dtype;
    bool fits = is_floating(other) || (!std::holds_alternative<double>(number) && other != DType::boolean);
    if (fits) type = other;
  });
  return type;
}

}  // namespace

Model numbers(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    auto schema = node.target.starts_with("aten::") && std::any_of(node.arguments.begin(), node.arguments.end(),
                                                                   [](const auto& a) { return is_number(a.value); })
                      ? find_schema(node.target)
                      : std::nullopt;
    if (!schema || schema->arguments.size() != node.arguments.size()) return false;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      if (schema->arguments[i].type != TypeKind::tensor || schema->arguments[i].list ||
          !is_number(node.arguments[i].value))
        continue;
      std::string scalar = node.target.substr(0, node.target.find('.')) + ".Scalar";
      if (auto overload = find_schema(scalar); overload && takes(*overload, node)) {
        node.target = scalar;
        return false;
      }
      DType type = type_beside(rewriter, node, node.arguments[i].value);
      node.arguments[i].value = Tensor{rewriter.emit(node, "aten::scalar_tensor",
                                                     {{"s", node.arguments[i].value},
                                                      {"dtype", type},
                                                      {"layout", None{}},
                                                      {"device", None{}},
                                                      {"pin_memory", None{}}},
                                                     type, {})};
    }
    return false;
  });
}

}  // namespace planscope
