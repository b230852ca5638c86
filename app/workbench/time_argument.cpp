#include "app/workbench/time_argument.h"

#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

namespace planscope {

Result<double> time_argument(const std::string& text) {
  static const std::map<std::string_view, double> units = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  const auto unit = units.find(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (problem != std::errc() || unit == units.end() || !std::isfinite(number) || number <= 0)
    return error("'" + text + "' is no time", "a time is a number above 0 with a unit", "write it as 400ms, 1.5s or 80us");
  return number * unit->second;
}

}  // namespace planscope
