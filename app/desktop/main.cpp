#include <cstdlib>

#include "app/desktop/desktop_main.h"
#include "app/workbench/default_workspace.h"

int main(int argc, char** argv) {
  return planscope::desktop_main(argc, argv,
                                 planscope::default_workspace(std::getenv("XDG_DATA_HOME"), std::getenv("HOME")));
}
