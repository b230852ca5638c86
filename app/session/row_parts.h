#pragma once
// A statement as a row of the grid: what is decided, of which operators, how, and where it holds. A part can be
// written anew; the line then stands as the printer writes it, with its indent, its `auto` and its comment.
//
//   RowParts p = parts_of(*parse_statement("trans L.mlp out by tensor where i > 0"));
//   p.primitive == "op-trans"; p.operators == "L.mlp"; p.argument == "out by tensor"; p.where == "i > 0"
//   with_part("trans L.mlp out by tensor  # wide", RowPart::operators, "L").value == "trans L out by tensor  # wide"
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"
#include "engine/plan/plan.h"

namespace planscope::session {

struct RowParts {
  std::string primitive;  // op-trans, op-assign, op-order, condition, declaration; empty: another one
  std::string word;       // that the statement begins with, as `trans`; empty where the argument is the whole of it
  std::string operators;  // empty: the statement names none in front of its argument
  std::string argument, where;
  bool operator==(const RowParts&) const = default;
};
RowParts parts_of(const plan::Statement&);

enum class RowPart { operators, argument, where };
std::optional<RowPart> row_part(std::string_view name);  // as `operators`

// What stands in front of a part in its statement: `trans L.mlp ` before the argument.
std::string before_part(const RowParts&, RowPart);

// Errors: the line is no statement, has no such part, or does not parse with the new one.
Result<std::string> with_part(const std::string& line, RowPart, const std::string& value);

}  // namespace planscope::session
