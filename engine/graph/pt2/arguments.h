#pragma once
// One argument of a node, from the file's tagged form to the type that the operator's schema asks for.
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/graph/pt2/json.h"
#include "engine/graph/pt2/symbols.h"
#include "engine/graph/schemas.h"

namespace planscope {

// What names mean inside one graph of the file. The views point into the JSON document.
struct Scope {
  std::unordered_map<std::string_view, ValueId> tensors;
  std::unordered_map<std::string_view, Json> metadata;  // tensor_values
  std::unordered_map<std::string_view, Json> symbols;   // sym_int_values, sym_float_values, sym_bool_values
  const SymbolBounds* bounds = nullptr;                 // of symbols that depend on data
  mutable bool met_bound = false;                       // a bound was taken for a number; whoever asks sets it back
};

// `{"as_ints": [1, 2]}`: the tag and what it holds.
struct Tagged {
  std::string_view tag;
  Json value;
};
Tagged tagged(Json);

// A number that may be symbolic: the number itself, or the hint of an expression, that is its value in the example that
// was exported, or, where it depends on data, its upper bound.
std::optional<std::int64_t> hinted_integer(Json, const Scope&);

std::optional<DType> read_dtype(Json);  // a number of the file's own, or torch's name

// Nothing, with `why` set, if the form is not known or does not suit the type. Without a schema argument the form alone
// decides.
std::optional<Argument> read_argument(Json, const SchemaArgument*, const Scope&, std::string& why);

}  // namespace planscope
