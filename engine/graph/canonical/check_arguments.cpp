#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/canonical.h"
#include "engine/graph/schemas.h"

namespace planscope {
namespace {

// What the node leaves out between two arguments of the schema has to have a default. Empty: it has.
std::string left_out(const Schema& schema, std::size_t from, std::size_t to) {
  for (std::size_t k = from; k < to; ++k)
    if (!schema.arguments[k].initial && !schema.arguments[k].optional)
      return "argument \"" + schema.arguments[k].name + "\" is left out";
  return {};
}

// Empty: all are well.
std::string misfit(const Node& node, const Schema& schema) {
  std::size_t next = 0;  // in the schema
  for (const NamedArgument& given : node.arguments) {
    const std::size_t from = next;
    while (next < schema.arguments.size() && schema.arguments[next].name != given.name) ++next;
    if (next == schema.arguments.size()) return "it has no argument \"" + given.name + "\"";
    if (std::string why = left_out(schema, from, next); !why.empty()) return why;
    const SchemaArgument& expected = schema.arguments[next++];
    const bool number_for_tensor = expected.type == TypeKind::tensor && !expected.list &&
                                   !std::holds_alternative<Tensor>(given.value) &&
                                   !std::holds_alternative<None>(given.value);
    if (!suits(given.value, expected) || number_for_tensor)
      return "argument \"" + given.name + "\" is of another type";
  }
  return left_out(schema, next, schema.arguments.size());
}

}  // namespace

std::vector<Diagnostic> check_arguments(const Model& model) {
  std::map<std::string_view, std::optional<Schema>> schemas;
  std::vector<Diagnostic> diagnostics;
  for (const Node& node : model.nodes) {
    auto [row, fresh] = schemas.try_emplace(node.target);
    if (fresh) row->second = find_schema(node.target);
    const std::string why = row->second ? misfit(node, *row->second) : std::string();
    if (why.empty()) continue;
    Diagnostic diagnostic = error("planscope made an operator that there is not", node.target + ": " + why,
                                  "this is a fault of planscope; please report it with the model");
    diagnostic.subject = node.name();
    diagnostics.push_back(std::move(diagnostic));
    if (diagnostics.size() == 20) break;
  }
  return diagnostics;
}

}  // namespace planscope
