#pragma once
// A view of one JSON value, never failing: what is missing or of another type is `missing()`, so that reading a file
// stays flat. Valid as long as the JsonDocument that it came from.
//
//   Json node = …;
//   std::string_view target = node["target"].text();
//   for (Json output : node["outputs"].elements()) …
#include <simdjson.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope {

class Json {
 public:
  Json() = default;
  explicit Json(simdjson::dom::element element) : element_(element), present_(true) {}

  bool missing() const { return !present_ || element_.is_null(); }
  bool is_array() const { return present_ && element_.is_array(); }
  bool is_object() const { return present_ && element_.is_object(); }

  Json operator[](std::string_view key) const;
  std::string_view text() const;  // empty if it is none
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;  // integers count, and the strings NaN, Infinity, -Infinity
  std::optional<bool> boolean() const;

  std::vector<Json> elements() const;                              // of an array, else none
  std::vector<std::pair<std::string_view, Json>> members() const;  // of an object, else none

 private:
  simdjson::dom::element element_;
  bool present_ = false;
};

class JsonDocument {
 public:
  // Bare NaN and Infinity, which Python writes, are read too. The diagnostic has no file name.
  static Result<JsonDocument> parse(std::string_view text);
  Json root() const { return root_; }

 private:
  std::shared_ptr<simdjson::dom::parser> parser_;
  Json root_;
};

}  // namespace planscope
