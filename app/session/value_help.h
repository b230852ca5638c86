#pragma once
// Help for whoever writes an argument of a command: what can stand there, what it would mean, and what it is now. For
// fields of forms and cells of the grid; the plan's script has completion.h of its own.
//
//   const Invocation begun = *parse_begun("change 4 operators");
//   complete_value(state, begun, "value", "model.l", 7).items   // modules, as in the script
//   value_note(state, begun, "value", "L.mlp")                  // "12 operators"
//   value_now(state, *parse_begun("replace 4"), "statement")    // the text of line 4
#include <string>

#include "app/session/commands.h"
#include "app/session/completion.h"
#include "app/session/state.h"

namespace planscope::session {

// `cursor` and `from` count bytes of the value.
Completion complete_value(const State&, const Invocation& begun, const std::string& argument, const std::string& value,
                          std::size_t cursor);
// What the value means, or why it means nothing; empty: there is nothing to say.
std::string value_note(const State&, const Invocation& begun, const std::string& argument, const std::string& value);
// The argument that is still to be said: of a line that has a value behind it. Empty: there is none.
std::string last_argument(const Invocation& begun);
std::string value_now(const State&, const Invocation& begun, const std::string& argument);

}  // namespace planscope::session
