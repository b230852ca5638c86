#include "engine/base/json_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/text.h"

namespace planscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMost = 20;  // messages of a severity
constexpr int kDeepest = 1000;

const Json& json(const void* value) { return *static_cast<const Json*>(value); }

// A limit as a reader writes it: "1", "1e+18".
std::string plain(double x) {
  std::ostringstream out;
  out.precision(10);
  out << x;
  return out.str();
}

int line_of(std::string_view text, std::size_t byte) {
  byte = std::min(byte, text.size());
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n'));
}

// Whether lists and objects stand within each other more than kDeepest deep: the library would need as much stack.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

struct JsonReader::Document {
  Json json;
};

JsonReader::JsonReader(std::string whole, std::string file, std::string hint)
    : whole_(std::move(whole)),
      file_(std::move(file)),
      hint_(std::move(hint)),
      document_(std::make_unique<Document>()) {}
JsonReader::~JsonReader() = default;

bool JsonReader::full(Severity severity) const {
  const auto alike = [&](const Diagnostic& d) { return d.severity == severity; };
  return static_cast<std::size_t>(std::count_if(diagnostics_.begin(), diagnostics_.end(), alike)) >= kMost;
}

void JsonReader::add(Diagnostic d) {
  if (full(d.severity)) return;
  if (d.file.empty()) d.file = file_;
  diagnostics_.push_back(std::move(d));
}

JsonValue JsonReader::parse(std::string_view text) {
  if (too_deep(text)) {
    add(error("lists stand within lists more than " + std::to_string(kDeepest) + " deep", {}, hint_));
    return {};
  }
  try {
    document_->json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    Diagnostic d = error("this is not JSON", "a syntax error near byte " + std::to_string(e.byte), hint_);
    d.line = line_of(text, e.byte == 0 ? 0 : e.byte - 1);
    add(std::move(d));
    return {};
  } catch (const Json::exception&) {
    add(error("this is not JSON", "a number in it is too large", hint_));
    return {};
  }
  const JsonValue out(&document_->json, this);
  if (out.is_object()) return out;
  out.fail("is not a JSON object");
  return {};
}

// Found by walking all of the text: only what is wrong needs its place.
std::string JsonReader::path(const void* value) const {
  struct Level {
    const Json* at;
    Json::const_iterator next;
  };
  std::vector<Level> levels{{&document_->json, document_->json.begin()}};
  while (levels.back().at != value) {
    while (levels.back().next == levels.back().at->end()) {
      levels.pop_back();
      if (levels.empty()) return {};
      ++levels.back().next;
    }
    const Json& inner = *levels.back().next;
    if (&inner == value) break;
    if (inner.is_structured())
      levels.push_back({&inner, inner.begin()});
    else
      ++levels.back().next;
  }
  if (value == &document_->json) return {};
  std::string out;
  for (const Level& l : levels) {
    if (l.at == value) break;
    if (l.at->is_array())
      out += "[" + std::to_string(l.next - l.at->begin()) + "]";
    else
      out += (out.empty() ? "" : ".") + l.next.key();
  }
  return out;
}

std::string JsonReader::name(const void* value) const {
  return value == &document_->json ? whole_ : "'" + path(value) + "'";
}

bool JsonValue::is_null() const { return value_ && json(value_).is_null(); }
bool JsonValue::is_list() const { return value_ && json(value_).is_array(); }
bool JsonValue::is_object() const { return value_ && json(value_).is_object(); }

JsonValue JsonValue::find(const std::string& key) const {
  if (!is_object()) return {};
  const auto found = json(value_).find(key);
  return found == json(value_).end() ? JsonValue() : JsonValue(&*found, reader_);
}

JsonValue JsonValue::field(const std::string& key) const {
  if (!value_) return {};
  if (!is_object()) {
    fail("is not an object");
    return {};
  }
  const JsonValue out = find(key);
  if (!out && !reader_->full(Severity::error)) {
    const std::string path = reader_->path(value_);
    reader_->add(error("field '" + (path.empty() ? key : path + "." + key) + "' is missing"));
  }
  return out;
}

JsonValue JsonValue::as_list() const {
  if (!value_ || is_list()) return *this;
  fail("is not a list");
  return {};
}

JsonValue JsonValue::list(const std::string& key) const { return field(key).as_list(); }

std::vector<std::string> JsonValue::keys() const {
  std::vector<std::string> out;
  if (is_object())
    for (const auto& [key, value] : json(value_).items()) out.push_back(key);
  return out;
}

std::size_t JsonValue::size() const { return is_list() ? json(value_).size() : 0; }

JsonValue JsonValue::operator[](std::size_t i) const {
  return i < size() ? JsonValue(&json(value_)[i], reader_) : JsonValue();
}

std::string JsonValue::text() const {
  if (!value_) return {};
  if (json(value_).is_string()) return json(value_).get<std::string>();
  fail("is not text");
  return {};
}

bool JsonValue::flag() const {
  if (!value_) return false;
  if (json(value_).is_boolean()) return json(value_).get<bool>();
  fail("is neither true nor false");
  return false;
}

double JsonValue::number(double least, double most) const {
  if (!value_) return least;
  if (!json(value_).is_number()) {
    fail("is not a number");
    return least;
  }
  const double x = json(value_).get<double>();
  if (x >= least && x <= most) return x;
  fail("is " + json(value_).dump() + ", outside " + plain(least) + " to " + plain(most));
  return least;
}

std::int64_t JsonValue::whole(std::int64_t least, std::int64_t most) const {
  if (!value_) return least;
  const Json& j = json(value_);
  const double x = j.is_number() ? j.get<double>() : 0.5;
  if (std::floor(x) != x) {
    fail("is not a whole number");
    return least;
  }
  const bool exact = j.is_number_integer() && !(j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX);
  if (exact || std::abs(x) < 9.2e18) {
    const std::int64_t n = exact ? j.get<std::int64_t>() : static_cast<std::int64_t>(x);
    if (n >= least && n <= most) return n;
  }
  fail("is " + j.dump() + ", outside " + std::to_string(least) + " to " + std::to_string(most));
  return least;
}

void JsonValue::only(const std::vector<std::string>& known, Severity severity) const {
  for (const std::string& key : keys()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string near = nearest(key, known);
    const std::string hint = near.empty() ? "known fields: " + join(known, ", ") : "did you mean '" + near + "'?";
    if (reader_->full(severity)) return;
    const std::string name = reader_->name(value_);
    reader_->add(severity == Severity::error
                     ? error(name + " has an unknown field '" + key + "'", {}, hint)
                     : warning(name + " has the field '" + key + "', which is not read", {}, hint));
  }
}

void JsonValue::fail(const std::string& what, const std::string& hint) const {
  if (!value_ || reader_->full(Severity::error)) return;
  reader_->add(error(reader_->name(value_) + " " + what, {}, hint));
}

}  // namespace planscope
