#pragma once
// The rows of a table or a tree as comma-separated values (RFC 4180): ids of the columns first, numbers in the
// unit that the id ends
// with, lists as JSON.
//
//   to_csv(make_panel("traffic", state).value)   // "kind,devices,…\r\nall_reduce,…"
#include <string>

#include "app/session/panel.h"

namespace planscope::session {

std::string to_csv(const Panel&);

}  // namespace planscope::session
