#include "engine/graph/pt2/json.h"

#include <cmath>
#include <limits>

namespace planscope {
namespace {

// Puts quotes around NaN, Infinity and -Infinity outside strings.
std::string quote_non_finite(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 64);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      result += text[i++];
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      bool replaced = false;
      for (std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (text.substr(i, word.size()) != word) continue;
        result.append("\"").append(word).append("\"");
        i += word.size() - 1;
        replaced = true;
        break;
      }
      if (replaced) continue;
    }
    result += text[i];
  }
  return result;
}

}  // namespace

Json Json::operator[](std::string_view key) const {
  simdjson::dom::object object;
  simdjson::dom::element found;
  if (!present_ || element_.get(object) || object.at_key(key).get(found)) return {};
  return Json(found);
}

std::string_view Json::text() const {
  std::string_view text;
  if (!present_ || element_.get(text)) return {};
  return text;
}

std::optional<std::int64_t> Json::integer() const {
  std::int64_t value = 0;
  if (!present_ || element_.get(value)) return std::nullopt;
  return value;
}

std::optional<double> Json::number() const {
  double value = 0;
  if (present_ && !element_.get(value)) return value;
  std::string_view word = text();
  if (word == "NaN") return std::nan("");
  if (word == "Infinity") return std::numeric_limits<double>::infinity();
  if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<bool> Json::boolean() const {
  bool value = false;
  if (!present_ || element_.get(value)) return std::nullopt;
  return value;
}

std::vector<Json> Json::elements() const {
  simdjson::dom::array array;
  std::vector<Json> result;
  if (!present_ || element_.get(array)) return result;
  for (simdjson::dom::element element : array) result.emplace_back(element);
  return result;
}

std::vector<std::pair<std::string_view, Json>> Json::members() const {
  simdjson::dom::object object;
  std::vector<std::pair<std::string_view, Json>> result;
  if (!present_ || element_.get(object)) return result;
  for (auto [key, value] : object) result.emplace_back(key, Json(value));
  return result;
}

Result<JsonDocument> JsonDocument::parse(std::string_view text) {
  if (text.data() == nullptr) text = "";  // the parser copies from it, were it nothing
  JsonDocument document;
  document.parser_ = std::make_shared<simdjson::dom::parser>();
  simdjson::dom::element root;
  simdjson::error_code code = document.parser_->parse(text.data(), text.size(), true).get(root);
  if (code) {
    std::string mended = quote_non_finite(text);
    code = document.parser_->parse(mended).get(root);
  }
  if (code) return error("the JSON text cannot be read", simdjson::error_message(code));
  document.root_ = Json(root);
  return document;
}

}  // namespace planscope
