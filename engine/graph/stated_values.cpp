#include "engine/graph/stated_values.h"

#include <algorithm>

#include "engine/base/memo.h"
#include "engine/graph/print.h"
#include "engine/graph/schemas.h"

namespace planscope {

namespace {

const Schema* schema_of(const std::string& target) {
  static Memo<std::string, std::optional<Schema>> known;
  const std::optional<Schema>& schema = known.at(target, [&] { return find_schema(target); });
  return schema ? &*schema : nullptr;
}

bool changes_no_number(const SchemaArgument& a) {
  switch (a.type) {
    case TypeKind::layout:
    case TypeKind::device:
    case TypeKind::memory_format:
    case TypeKind::generator:
      return true;
    default:
      return a.name == "pin_memory" || a.name == "non_blocking" || a.name == "copy";
  }
}

bool is_operand(const Argument& value) {
  return std::holds_alternative<Tensor>(value) || std::holds_alternative<std::vector<Tensor>>(value);
}

std::optional<double> as_number(const Argument& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool is_nothing(const Argument& value) {
  const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
  return std::holds_alternative<None>(value) || (list && list->empty());
}

bool equal(const Argument& a, const Argument& b) {
  const auto x = as_number(a), y = as_number(b);
  return a == b || (x && y && *x == *y) || (is_nothing(a) && is_nothing(b));
}

}  // namespace

std::optional<std::string> unstated_value(const Node& node, const StatedArguments& stated) {
  const Schema* schema = schema_of(node.target);
  if (!schema) return std::nullopt;
  for (const NamedArgument& given : node.arguments) {
    if (is_operand(given.value) || stated.contains(given.name)) continue;
    const auto expected = std::find_if(schema->arguments.begin(), schema->arguments.end(),
                                       [&](const SchemaArgument& a) { return a.name == given.name; });
    if (expected == schema->arguments.end() || changes_no_number(*expected)) continue;
    if (expected->initial && equal(*expected->initial, given.value)) continue;
    if (expected->optional && std::holds_alternative<None>(given.value)) continue;  // an operand that is not there
    return given.name + "=" + to_string(given.value);
  }
  return std::nullopt;
}

bool has_argument(const std::string& target, std::string_view argument) {
  const Schema* schema = schema_of(target);
  return !schema || std::any_of(schema->arguments.begin(), schema->arguments.end(),
                                [&](const SchemaArgument& a) { return a.name == argument; });
}

}  // namespace planscope
