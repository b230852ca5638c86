#pragma once
// Everything that one can go to by its name: modules, layers by number, operators, tensors and parameters (those of equal layers once),
// inputs, statements of the plan, open documents, versions, plans of the workspace.
//
//   for (const Target& t : targets(state)) …   // t.title, what it is, the command that goes there
#include <string>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

struct Target {
  std::string title, about;
  std::string command;  // a line of a session script
};
std::vector<Target> targets(const State&);

}  // namespace planscope::session
