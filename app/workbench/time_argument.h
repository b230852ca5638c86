#pragma once
// A time as people write it in arguments of verbs and commands: `400ms`, `1.5s`, `80us`.
//
//   *time_argument("1.5s")   // 1.5e6, in microseconds
//
// Errors: it is no positive number with one of these units.
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

Result<double> time_argument(const std::string& text);

}  // namespace planscope
