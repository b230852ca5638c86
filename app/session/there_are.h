#pragma once
// What may be named instead of a name that is not known, for the `why` of a message.
//
//   there_are({"nvlink", "nvswitch"})   // there are nvlink, nvswitch
//   there_are({"nvlink"})               // the only one is nvlink
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace planscope::session {

inline std::string there_are(const std::vector<std::string>& names) {
  return names.empty() ? "there are none" : (names.size() == 1 ? "the only one is " : "there are ") + join(names, ", ");
}

}  // namespace planscope::session
