#include "storage/draft_text.h"

#include <nlohmann/json.hpp>

namespace planscope {

namespace {

using Json = nlohmann::json;

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> maybe(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

}  // namespace

std::string print(const DraftRow& d) {
  const Json draft = {{"id", d.id},
                      {"model", d.model},
                      {"name", d.name},
                      {"path", d.path},
                      {"cluster", d.cluster},
                      {"version", maybe(d.version)},
                      {"text", d.text},
                      {"boot", d.process.boot},
                      {"process", d.process.pid},
                      {"process_start", d.process.start},
                      {"written_us", d.written_us},
                      {"saved", maybe(d.saved)}};
  return Json{{"draft", draft}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_draft(std::string_view text) {
  const Json j = Json::parse(text, nullptr, false);
  return j.is_object() && j.contains("draft");
}

Result<DraftRow> parse_draft(std::string_view text) {
  try {
    const Json j = Json::parse(text).at("draft");
    return DraftRow{.id = j.at("id"),
                    .model = j.at("model"),
                    .name = j.at("name"),
                    .path = j.at("path"),
                    .cluster = j.at("cluster"),
                    .version = maybe<RowId>(j.at("version")),
                    .text = j.at("text"),
                    .process = {j.at("boot"), j.at("process"), j.at("process_start")},
                    .written_us = j.at("written_us"),
                    .saved = maybe<std::string>(j.at("saved"))};
  } catch (const Json::exception& e) {
    return error("the draft is malformed", e.what());
  }
}

}  // namespace planscope
