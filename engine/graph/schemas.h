#pragma once
// The schemas of the aten operators, as torch declares them: argument names, types, default values, which argument an
// operator writes and which argument an output is a view of. The table (schemas.inc) is written by
// scripts/make_schemas.py; a schema is parsed when it is first asked for by its caller.
//
//   std::optional<Schema> s = find_schema("aten::add_.Tensor");
//   s->arguments[0].written;  // true: `Tensor(a!) self`
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/model.h"

namespace planscope {

enum class TypeKind : std::uint8_t {
  tensor,
  integer,
  floating,
  boolean,
  text,
  scalar,
  dtype,
  layout,
  device,
  memory_format,
  generator,
  other
};

struct SchemaArgument {
  std::string name;
  TypeKind type = TypeKind::other;
  bool list = false;
  std::size_t length = 1;  // of a list written as one number (`int[2] stride=1`)
  bool optional = false;
  bool written = false;             // `(a!)`
  bool aliased = false;             // `(a)` or `(a!)`
  std::optional<Argument> initial;  // the default value
};

struct Schema {
  std::string name;  // `aten::add.Tensor`
  std::vector<SchemaArgument> arguments;
  int outputs = 1;
  bool output_list = false;  // one list of tensors
  bool view = false;         // an output may share memory with the first aliased argument without writing it
};

// `aten::add.Tensor`, `aten::linear`; nothing if the table lacks it.
std::optional<Schema> find_schema(std::string_view name);

// All overloads of an operator: of `aten::pow` those of Scalar, Tensor_Scalar and Tensor_Tensor.
std::vector<Schema> find_overloads(std::string_view name);

// Whether an argument is of the type that the schema asks for. A number suits a tensor: `x * 2` is mul.Tensor.
bool suits(const Argument&, const SchemaArgument&);

// Parses one line of the table. Nothing if it is not one.
std::optional<Schema> parse_schema(std::string_view text);

}  // namespace planscope
