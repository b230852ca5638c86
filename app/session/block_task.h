#pragma once
// The task that a block of a timeline is of, for what is done with blocks by hand.
//
//   task_of_block(document, *parse_invocation("select none time=1..2.5 lane=\"pipe=1\" stream=compute"))   // b(S[1])[2]
#include <optional>
#include <string>

#include "app/session/commands.h"
#include "app/session/state.h"

namespace planscope::session {

// The block that the line selects, of the stream `compute` where it names none; nothing: it selects none.
std::optional<TimeSelection> block_named(const Invocation&);

// In words of the plan language. Empty: the line selects no block, or one of another step than the one that is shown.
std::string task_of_block(const Document&, const Invocation&);

// The task that is selected as a block of its own, beside nothing but the place where it runs; empty: something else is.
std::string task_selected(const State&);

// The device class of the lane that the line names; empty: none.
std::string place_of_lane(const Document&, const Invocation&);

}  // namespace planscope::session
