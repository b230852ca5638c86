#include "app/session/times.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr double kMost = 1e15;  // microseconds: more than a simulated step can last

std::optional<double> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (*end != '\0' || !std::isfinite(v) || v < 0 || v > kMost) return std::nullopt;
  return v;
}

}  // namespace

Result<TimesUs> parse_times(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::optional<double> from = number(text.substr(0, dots));
  const std::optional<double> to = dots == std::string::npos ? from : number(text.substr(dots + 2));
  if (!from || !to)
    return error("'" + printable(text) + "' is no part of a step", "times are microseconds from 0 on", "as 1200..1350.5, or one moment, as 1200");
  if (*to < *from) return error("'" + printable(text) + "' ends before it begins", "", "the earlier time first");
  return TimesUs{*from, *to};
}

std::string print_times(const TimesUs& t) {
  const auto text = [](double v) {
    char buffer[32];
    return std::string(buffer, std::to_chars(std::begin(buffer), std::end(buffer), v).ptr);
  };
  return t.first == t.second ? text(t.first) : text(t.first) + ".." + text(t.second);
}

}  // namespace planscope::session
