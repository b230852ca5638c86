#include "engine/launch/spans.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace planscope {
namespace {

using Json = nlohmann::json;

// Microseconds with three decimals, as a number of nanoseconds: short text, no rounding surprises.
std::int64_t nanoseconds(Microseconds us) { return std::llround(us.count * 1000); }

}  // namespace

std::string print_spans(const SpanList& spans) {
  std::map<std::string, std::size_t> numbers;
  Json kinds = Json::array();
  Json rows = Json::array();
  for (const Span& s : spans) {
    const auto [it, is_new] = numbers.emplace(s.kind, numbers.size());
    if (is_new) kinds.push_back(s.kind);
    rows.push_back({s.step, s.instruction, it->second, nanoseconds(s.start), nanoseconds(s.duration)});
  }
  return Json{{"kinds", kinds}, {"spans", rows}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SpanList> parse_spans(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  SpanList spans;
  try {
    const auto kinds = json.at("kinds").get<std::vector<std::string>>();
    for (const Json& row : json.at("spans")) {
      spans.push_back({row.at(0).get<int>(),
                       row.at(1).get<std::int64_t>(),
                       kinds.at(row.at(2).get<std::size_t>()),
                       {row.at(3).get<double>() / 1000},
                       {row.at(4).get<double>() / 1000}});
    }
  } catch (const std::exception&) {  // a missing or mistyped field, a kind that is not there
    return error("malformed spans",
                 "a list of [step, instruction, kind, start, duration] with their kinds is expected");
  }
  return spans;
}

}  // namespace planscope
