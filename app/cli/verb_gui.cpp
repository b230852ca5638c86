#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/cli/command.h"

namespace planscope::cli {

Answer gui(const Options& o) {
  const std::string desktop = o.program_folder + "/planscope-desktop";
  std::vector<std::string> arguments = {desktop};
  if (!o.model.empty()) arguments.insert(arguments.end(), {"--model", o.model});
  if (!o.plan.empty()) arguments.insert(arguments.end(), {"--plan", o.plan});
  if (!o.session_cluster.empty()) arguments.insert(arguments.end(), {"--cluster", o.session_cluster});
  if (!o.workspace.empty()) arguments.insert(arguments.end(), {"--workspace", o.workspace});
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  ::execv(desktop.c_str(), argv.data());
  return bad_input(
      {error("cannot start '" + desktop + "'", std::strerror(errno), "planscope was built without Qt 6?")});
}

}  // namespace planscope::cli
