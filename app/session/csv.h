#pragma once
// What a panel shows as comma-separated values (RFC 4180), the names of the columns first:
//   table, tree          its rows; numbers in the unit that the id of the column ends with, lists as JSON
//   chips, facts, form   name,value,text: the value for programs, and the text that people read
//   script               line,text
//   chart                series,x,y
//
//   to_csv(make_panel("traffic", state).value)   // "kind,devices,…\r\nall_reduce,…"
#include <string>

#include "app/session/panel.h"

namespace planscope::session {

std::string to_csv(const Panel&);

}  // namespace planscope::session
