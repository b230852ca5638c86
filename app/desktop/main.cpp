#include "app/desktop/desktop_main.h"
#include "app/workbench/session.h"

int main(int argc, char** argv) { return planscope::desktop_main(argc, argv, planscope::make_session()); }
