#pragma once
// The communication that the session looks at: of the plan that is shown, restricted by what the command `brush` says.
//
//   if (const std::shared_ptr<const TrafficFacts> t = traffic_shown(state)) t->communicators …
#include <memory>
#include <string>

#include "app/session/state.h"
#include "app/workbench/traffic.h"

namespace planscope::session {

std::shared_ptr<const TrafficFacts> traffic_shown(const State&);  // null: no plan has been predicted
// The part of the step and the lanes that are selected, where the selection restricts it; empty: they do not.
std::string brushed_time_text(const State&);
std::string brush_text(const State&);                     // as `100 µs – 250 µs · all_reduce`; empty: all is shown

}  // namespace planscope::session
