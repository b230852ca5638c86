#include "app/desktop/desktop_main.h"
#include "tests/app/desktop/fake_session.h"

int main(int argc, char** argv) {
  return planscope::desktop_main(argc, argv, "", [](const std::string&) {
    return planscope::fake_session(std::make_shared<planscope::SessionLog>());
  });
}
