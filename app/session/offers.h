#pragma once
// What can be done with a thing that was pointed at: the entries of its context menu, as commands of the one list. A
// thing is named by the line of a session script that its row, or a click on it, runs.
//
//   for (const Offer& o : offers(state, "select operators=\"L.mlp\"").all) …
//       // o.group "Split", o.title "out by tensor", o.beside "step -1.2 ms, peak -3 MiB", o.command "put …"
//
// Figures are there for what is selected, as they are tried; the same call gives them later.
#include <string>
#include <string_view>
#include <vector>

#include "app/session/commands.h"
#include "app/session/state.h"

namespace planscope::session {

struct Offer {
  std::string group;  // offers of one group are a menu of their own; empty: they stand in the menu itself
  std::string title;
  std::string command;      // a line of a session script; arguments that are missing are asked for
  std::string beside = {};  // what it changes, where that is known
  std::string reason = {};  // why it cannot be done now; empty: it can
  bool asks = false;        // its arguments are shown to be completed before it is run
  bool operator==(const Offer&) const = default;
};

struct Offers {
  std::string title;    // what was pointed at
  bool select = false;  // it is to be selected too, as a click does
  std::vector<Offer> all;
};

// Nothing is offered for a line that is no command.
Offers offers(const State&, std::string_view line);

// What takes away the reason of a refusal: the command once more with the word that its hint names (`overwrite=yes`), and
// each line of the plan that is in the way, to be relaxed; `seen`: the number of the text that was refused, 0 where it
// is not known.
std::vector<Offer> ways_out(const Invocation& refused, const Diagnostic&, std::uint64_t seen = 0);

}  // namespace planscope::session
