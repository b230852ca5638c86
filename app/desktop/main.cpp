#include <cstdlib>
#include "app/desktop/desktop_main.h"

#include "app/workbench/default_workspace.h"
#include "app/workbench/session.h"

int main(int argc, char** argv) {
  const std::string workspace = planscope::default_workspace(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"));
  return planscope::desktop_main(argc, argv, workspace, [](const std::string& file) {
    planscope::SessionSettings settings;
    settings.workspace = file;
    return planscope::make_session(settings);
  });
}
