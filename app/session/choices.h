#pragma once
// What an argument of a command can be, where there is something to choose from: for menus, the palette and pages.
//
//   for (const Choice& c : choices(state, "cluster", "name")) …   // the presets, and the clusters of the workspace
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

struct Choice {
  std::string value;  // of the argument
  std::string about;
};

// How many places there are: of an axis with very many, choices() has the first.
std::int64_t count_places(const Document&);

// Empty: anything of the argument's kind.
std::vector<Choice> choices(const State&, const std::string& command, const std::string& argument);

}  // namespace planscope::session
