#include "engine/graph/schemas.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace planscope {
namespace {

constexpr std::string_view table[] = {
#include "engine/graph/schemas.inc"
};

std::string_view name_of(std::string_view row) { return row.substr(0, row.find('(')); }

// A cursor over `Tensor(a!) self, Scalar alpha=1`.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool take(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ') ++position_;
  }
  std::string_view word() {
    std::size_t begin = position_;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') ++position_;
    return text_.substr(begin, position_ - begin);
  }
  // Up to (not with) one of `stops` outside quotes.
  std::string_view until(std::string_view stops) {
    std::size_t begin = position_;
    bool in_quotes = false;
    while (!at_end() && (in_quotes || stops.find(peek()) == std::string_view::npos)) {
      if (peek() == '"') in_quotes = !in_quotes;
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

TypeKind kind_of(std::string_view word) {
  if (word == "Tensor") return TypeKind::tensor;
  if (word == "int" || word == "SymInt") return TypeKind::integer;
  if (word == "float" || word == "SymFloat") return TypeKind::floating;
  if (word == "bool" || word == "SymBool") return TypeKind::boolean;
  if (word == "str") return TypeKind::text;
  if (word == "Scalar") return TypeKind::scalar;
  if (word == "ScalarType") return TypeKind::dtype;
  if (word == "Layout") return TypeKind::layout;
  if (word == "Device" || word == "DeviceIndex") return TypeKind::device;
  if (word == "MemoryFormat") return TypeKind::memory_format;
  if (word == "Generator") return TypeKind::generator;
  return TypeKind::other;
}

void read_alias(Reader& reader, SchemaArgument& argument) {
  if (!reader.take("(")) return;
  argument.aliased = true;
  argument.written = reader.until(")").find('!') != std::string_view::npos;
  reader.take(")");
}

// `Tensor(a!)`, `int[2]?`, `Tensor?[]`
void read_type(Reader& reader, SchemaArgument& argument) {
  argument.type = kind_of(reader.word());
  for (bool more = true; more;) {
    more = false;
    if (reader.peek() == '(') read_alias(reader, argument), more = true;
    if (reader.take("?")) argument.optional = more = true;
    if (reader.take("[")) {
      std::string_view length = reader.until("]");
      std::from_chars(length.data(), length.data() + length.size(), argument.length);
      reader.take("]");
      argument.list = more = true;
    }
  }
}

Argument read_scalar(std::string_view text, TypeKind type) {
  if (text == "None") return None{};
  if (text == "True" || text == "False") return text == "True";
  if (!text.empty() && text.front() == '"') return std::string(text.substr(1, text.size() - 2));
  if (type == TypeKind::memory_format) return MemoryFormat{text == "contiguous_format" ? 0 : 1};
  bool real = type == TypeKind::floating || text.find_first_of(".ein") != std::string_view::npos;
  if (real) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  // ATen numbers its types as DType does, up to bool.
  if (type == TypeKind::dtype && value >= 0 && value <= static_cast<std::int64_t>(DType::boolean))
    return static_cast<DType>(value);
  return value;
}

Argument read_default(Reader& reader, const SchemaArgument& argument) {
  if (!reader.take("[")) {
    Argument value = read_scalar(reader.until(",)"), argument.type);
    const auto* integer = std::get_if<std::int64_t>(&value);
    return argument.list && integer ? Argument(std::vector<std::int64_t>(argument.length, *integer)) : value;
  }
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<bool> flags;
  while (!reader.at_end() && !reader.take("]")) {
    Argument element = read_scalar(reader.until(",]"), argument.type);
    if (const auto* i = std::get_if<std::int64_t>(&element)) integers.push_back(*i);
    if (const auto* f = std::get_if<double>(&element)) reals.push_back(*f);
    if (const auto* b = std::get_if<bool>(&element)) flags.push_back(*b);
    reader.take(",");
    reader.skip_spaces();
  }
  if (argument.type == TypeKind::floating) return reals;
  if (argument.type == TypeKind::boolean) return flags;
  if (argument.type == TypeKind::tensor) return std::vector<Tensor>{};
  return integers;
}

bool read_arguments(Reader& reader, Schema& schema) {
  if (!reader.take("(")) return false;
  while (!reader.take(")")) {
    if (reader.at_end()) return false;
    reader.skip_spaces();
    if (!reader.take("*")) {
      SchemaArgument argument;
      read_type(reader, argument);
      reader.skip_spaces();
      argument.name = reader.word();
      if (argument.name.empty()) return false;
      if (reader.take("=")) argument.initial = read_default(reader, argument);
      schema.arguments.push_back(std::move(argument));
    }
    reader.take(",");
  }
  return true;
}

void read_returns(Reader& reader, Schema& schema) {
  reader.take(" -> ");
  bool several = reader.take("(");
  schema.outputs = 0;
  while (!reader.at_end() && reader.peek() != ')') {
    SchemaArgument output;
    read_type(reader, output);
    ++schema.outputs;
    schema.output_list = output.list;
    schema.view = schema.view || (output.aliased && !output.written);
    reader.until(several ? ",)" : ")");  // a name may follow
    reader.take(",");
    reader.skip_spaces();
  }
}

bool is_number(const Argument& argument) {
  return std::holds_alternative<std::int64_t>(argument) || std::holds_alternative<double>(argument) ||
         std::holds_alternative<bool>(argument);
}

}  // namespace

bool suits(const Argument& argument, const SchemaArgument& schema) {
  if (std::holds_alternative<None>(argument))
    return schema.optional || schema.type == TypeKind::layout || schema.type == TypeKind::generator;
  if (schema.list) {
    switch (schema.type) {
      case TypeKind::tensor:
        return std::holds_alternative<std::vector<Tensor>>(argument);
      case TypeKind::integer:
        return std::holds_alternative<std::vector<std::int64_t>>(argument);
      case TypeKind::floating:
        return std::holds_alternative<std::vector<double>>(argument);
      case TypeKind::boolean:
        return std::holds_alternative<std::vector<bool>>(argument);
      default:
        return false;
    }
  }
  switch (schema.type) {
    case TypeKind::tensor:  // Python's numbers stand for tensors: `x * 2` is mul.Tensor
      return std::holds_alternative<Tensor>(argument) || is_number(argument);
    case TypeKind::integer:
      return std::holds_alternative<std::int64_t>(argument);
    case TypeKind::floating:
      return std::holds_alternative<double>(argument);
    case TypeKind::boolean:
      return std::holds_alternative<bool>(argument);
    case TypeKind::text:
      return std::holds_alternative<std::string>(argument);
    case TypeKind::scalar:
      return is_number(argument);
    case TypeKind::dtype:
      return std::holds_alternative<DType>(argument);
    case TypeKind::device:
      return std::holds_alternative<Device>(argument);
    case TypeKind::memory_format:
      return std::holds_alternative<MemoryFormat>(argument);
    default:
      return false;
  }
}

std::optional<Schema> parse_schema(std::string_view text) {
  Schema schema;
  schema.name = name_of(text);
  Reader reader(text.substr(schema.name.size()));
  if (!read_arguments(reader, schema)) return std::nullopt;
  read_returns(reader, schema);
  return schema;
}

std::optional<Schema> find_schema(std::string_view name) {
  auto row = std::lower_bound(std::begin(table), std::end(table), name,
                              [](std::string_view left, std::string_view right) { return name_of(left) < right; });
  if (row == std::end(table) || name_of(*row) != name) return std::nullopt;
  return parse_schema(*row);
}

std::vector<Schema> find_overloads(std::string_view name) {
  std::vector<Schema> found;
  auto row = std::lower_bound(std::begin(table), std::end(table), name,
                              [](std::string_view left, std::string_view right) { return name_of(left) < right; });
  for (; row != std::end(table) && row->starts_with(name); ++row) {
    const std::string_view own = name_of(*row);
    if (own != name && !(own.starts_with(name) && own[name.size()] == '.')) continue;
    if (auto schema = parse_schema(*row)) found.push_back(std::move(*schema));
  }
  return found;
}

}  // namespace planscope
