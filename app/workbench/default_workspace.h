#pragma once
// The file that programs keep their workspace in unless they are told otherwise: in the user's data folder. They pass what
// the environment says (XDG_DATA_HOME, HOME); null or empty: nothing. Without both, a file in the current folder.
//
//   default_workspace(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"))   // ….local/share/planscope/workspace.planscope
#include <string>

namespace planscope {

inline std::string default_workspace(const char* data, const char* home) {
  if (data && *data) return std::string(data) + "/planscope/workspace.planscope";
  if (home && *home) return std::string(home) + "/.local/share/planscope/workspace.planscope";
  return "planscope-workspace.planscope";
}

}  // namespace planscope
