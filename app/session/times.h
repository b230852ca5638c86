#pragma once
// Parts of a step as commands write them, in microseconds: `1200.5..1300`, or one moment, `1200.5`.
//
//   *parse_times("1200.5..1300")   // {1200.5, 1300}
//   print_times({1200.5, 1300})    // 1200.5..1300
//
// Errors: no such number, one below 0, an end before its beginning.
#include <string>
#include <utility>

#include "engine/base/diagnostic.h"

namespace planscope::session {

using TimesUs = std::pair<double, double>;
Result<TimesUs> parse_times(const std::string&);
std::string print_times(const TimesUs&);  // so that they are read as the same numbers

}  // namespace planscope::session
