#include "app/session/graph/split_text.h"

namespace planscope::session {

std::string SplitText::text() const {
  return (factor.empty() ? "partial" : factor) + (factor.empty() ? " over " : " ÷ " + std::to_string(blocks) + " ") +
         axis;
}

Storage storage_named(const std::string& name) {
  return name == "recompute" ? Storage::recompute : name == "offload" ? Storage::offload : Storage::keep;
}

}  // namespace planscope::session
