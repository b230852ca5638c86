#pragma once
// A comparison as one page of HTML that can be mailed: the plans with what differs, what their steps consist of, their
// timelines on one axis, and what runs have measured. Errors: there is no comparison that is
// complete.
#include <string>

#include "app/session/state.h"

namespace planscope::session {

Result<std::string> comparison_page(const State&);

}  // namespace planscope::session
