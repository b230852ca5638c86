#pragma once
// docs/plan-language.md, as it was when the program was built: the one text that says what the plan language is.
#include <string_view>

namespace planscope::session {

std::string_view reference_text();

}  // namespace planscope::session
