#include "engine/graph/pt2/arguments.h"

#include <array>

namespace planscope {
namespace {

// Numbers of the file's ScalarType; not those of the tensor library.
std::optional<DType> numbered_dtype(std::int64_t number) {
  constexpr std::array types = {DType::other, DType::u8,   DType::i8,      DType::i16, DType::i32,
                                DType::i64,   DType::f16,  DType::f32,     DType::f64, DType::c32,
                                DType::c64,   DType::c128, DType::boolean, DType::bf16};
  if (number >= 1 && number < static_cast<std::int64_t>(types.size())) return types[static_cast<std::size_t>(number)];
  if (number == 28 || (number >= 29 && number <= 35)) return DType::other;  // uint16…64, 8-bit floats
  return std::nullopt;
}

std::optional<DType> named_dtype(std::string_view name) {
  using Row = std::pair<std::string_view, DType>;
  for (auto [text, type] :
       {Row{"BYTE", DType::u8}, Row{"CHAR", DType::i8}, Row{"SHORT", DType::i16}, Row{"INT", DType::i32},
        Row{"LONG", DType::i64}, Row{"HALF", DType::f16}, Row{"FLOAT", DType::f32}, Row{"DOUBLE", DType::f64},
        Row{"COMPLEXHALF", DType::c32}, Row{"COMPLEXFLOAT", DType::c64}, Row{"COMPLEXDOUBLE", DType::c128},
        Row{"BOOL", DType::boolean}, Row{"BFLOAT16", DType::bf16}})
    if (name == text) return type;
  return std::nullopt;
}

// Memory formats as the file numbers them -> as torch numbers them (contiguous 0, preserve 1, channels last 2, 3).
std::optional<Argument> read_memory_format(Json value) {
  auto number = value.integer();
  if (!number || *number < 0 || *number > 4) return std::nullopt;
  constexpr std::array<std::int64_t, 5> codes = {1, 0, 2, 3, 1};
  return MemoryFormat{codes[static_cast<std::size_t>(*number)]};
}

std::optional<double> hinted_number(Json value, const Scope& scope, int depth = 0);

Json symbol(std::string_view name, const Scope& scope) {
  auto found = scope.symbols.find(name);
  return found == scope.symbols.end() ? Json() : found->second;
}

template <class T, class Read>
std::optional<T> hinted(Json value, const Scope& scope, Read read, int depth) {
  if (depth > 4) return std::nullopt;
  if (auto plain = read(value)) return plain;
  auto [tag, inner] = tagged(value);
  if (tag == "as_int" || tag == "as_float" || tag == "as_bool") return read(inner);
  if (tag == "as_name") return hinted<T>(symbol(inner.text(), scope), scope, read, depth + 1);
  if (tag != "as_expr") return std::nullopt;
  if (auto hint = hinted<T>(inner["hint"], scope, read, depth + 1)) return hint;
  const auto bound = scope.bounds ? upper_bound(inner["expr_str"].text(), *scope.bounds) : std::nullopt;
  if (!bound) return std::nullopt;
  scope.met_bound = true;
  return static_cast<T>(*bound);
}

std::optional<double> hinted_number(Json value, const Scope& scope, int depth) {
  return hinted<double>(value, scope, [](Json json) { return json.number(); }, depth);
}

std::optional<bool> hinted_boolean(Json value, const Scope& scope) {
  return hinted<bool>(value, scope, [](Json json) { return json.boolean(); }, 0);
}

std::optional<Tensor> read_tensor(Json value, const Scope& scope) {
  auto [tag, inner] = tagged(value);
  if (tag == "as_none") return Tensor{};
  std::string_view name = tag == "as_tensor" ? inner["name"].text() : value["name"].text();
  auto found = scope.tensors.find(name);
  if (found == scope.tensors.end()) return std::nullopt;
  return Tensor{found->second};
}

template <class T, class Read>
std::optional<Argument> read_list(Json value, Read read) {
  std::vector<T> list;
  for (Json element : value.elements()) {
    std::optional<T> item = read(element);
    if (!item) return std::nullopt;
    list.push_back(*item);
  }
  return Argument(std::move(list));
}

std::optional<Argument> wrap(auto value) {
  if (!value) return std::nullopt;
  return Argument(*value);
}

// By the form alone.
std::optional<Argument> read_form(std::string_view tag, Json value, Json whole, const Scope& scope) {
  auto integer = [&](Json json) { return hinted_integer(json, scope); };
  auto number = [&](Json json) { return hinted_number(json, scope); };
  auto boolean = [&](Json json) { return hinted_boolean(json, scope); };
  auto tensor = [&](Json json) { return read_tensor(json, scope); };
  if (tag == "as_none") return None{};
  if (tag == "as_tensor") return wrap(read_tensor(whole, scope));
  if (tag == "as_optional_tensor") return wrap(tensor(value));
  if (tag == "as_tensors" || tag == "as_optional_tensors") return read_list<Tensor>(value, tensor);
  if (tag == "as_int" || tag == "as_sym_int") return wrap(integer(value));
  if (tag == "as_ints" || tag == "as_sym_ints") return read_list<std::int64_t>(value, integer);
  if (tag == "as_float" || tag == "as_sym_float") return wrap(number(value));
  if (tag == "as_floats" || tag == "as_sym_floats") return read_list<double>(value, number);
  if (tag == "as_bool" || tag == "as_sym_bool") return wrap(boolean(value));
  if (tag == "as_bools" || tag == "as_sym_bools") return read_list<bool>(value, boolean);
  if (tag == "as_string") return Argument(std::string(value.text()));
  if (tag == "as_scalar_type") return wrap(read_dtype(value));
  if (tag == "as_memory_format") return read_memory_format(value);
  if (tag == "as_device") return Argument(Device{});
  if (tag == "as_layout" && value.integer() == 7) return None{};  // strided, the only one there is
  return std::nullopt;
}

template <class To, class From>
Argument converted(const std::vector<From>& list) {
  return std::vector<To>(list.begin(), list.end());
}

bool is_empty_list(const Argument& argument) {
  return std::visit(
      [](const auto& value) {
        if constexpr (requires {
                        value.empty();
                        value.size();
                        value.begin();
                      })
          return value.empty();
        else
          return false;
      },
      argument);
}

Argument empty_list(TypeKind type) {
  if (type == TypeKind::tensor) return std::vector<Tensor>{};
  if (type == TypeKind::floating) return std::vector<double>{};
  if (type == TypeKind::boolean) return std::vector<bool>{};
  return std::vector<std::int64_t>{};
}

// The forms are looser than the types: an integer may stand for a float, a number for a list of one.
void suit(Argument& argument, const SchemaArgument& schema) {
  if (schema.list && !std::holds_alternative<std::string>(argument) && is_empty_list(argument)) {
    argument = empty_list(schema.type);
    return;
  }
  bool floating = schema.type == TypeKind::floating;
  if (const auto* value = std::get_if<std::int64_t>(&argument)) {
    std::int64_t number = *value;
    if (schema.list && floating)
      argument = std::vector<double>(schema.length, static_cast<double>(number));
    else if (schema.list)
      argument = std::vector<std::int64_t>(schema.length, number);
    else if (floating)
      argument = static_cast<double>(number);
  } else if (const auto* list = std::get_if<std::vector<std::int64_t>>(&argument); list && floating) {
    argument = converted<double>(*list);
  } else if (const auto* tensor = std::get_if<Tensor>(&argument); tensor && tensor->id < 0 && !schema.list) {
    argument = None{};
  }
}

}  // namespace

Tagged tagged(Json json) {
  auto members = json.members();
  if (members.size() != 1) return {};
  return {members.front().first, members.front().second};
}

std::optional<std::int64_t> hinted_integer(Json json, const Scope& scope) {
  return hinted<std::int64_t>(json, scope, [](Json value) { return value.integer(); }, 0);
}

std::optional<DType> read_dtype(Json json) {
  if (auto number = json.integer()) return numbered_dtype(*number);
  return named_dtype(json.text());
}

std::optional<Argument> read_argument(Json json, const SchemaArgument* schema, const Scope& scope, std::string& why) {
  auto [tag, value] = tagged(json);
  std::optional<Argument> argument = read_form(tag, value, json, scope);
  if (!argument) {
    why = tag.empty() ? "it is not an argument" : "cannot read \"" + std::string(tag) + "\"";
    return std::nullopt;
  }
  if (!schema) return argument;
  suit(*argument, *schema);
  if (!suits(*argument, *schema)) {
    why = "\"" + std::string(tag) + "\" does not suit the operator";
    return std::nullopt;
  }
  return argument;
}

}  // namespace planscope
