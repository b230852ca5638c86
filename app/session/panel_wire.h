#pragma once
// A whole panel as JSON, for surfaces that render it elsewhere: everything that panel.h says of it, where to_json()
// gives scripts the values alone. What is as by default is left out: tone "plain", empty texts, false.
//
//   whole_json(p)
//   // {"id": "chips", "title": "Figures", "kind": "chips", "current": true,
//   //  "facts": [{"id": "step_us", "title": "Step", "cell": {"value": 1200.0, "text": "1.20 ms"}}], …}
#include "app/session/panel.h"

namespace planscope::session {

Json whole_json(const Panel&);
Json whole_json(const Diagnostic&);  // with `said`, the line that people read
std::string_view to_string(Unit);    // none, count, microseconds, bytes, share
std::string_view to_string(Severity);

}  // namespace planscope::session
