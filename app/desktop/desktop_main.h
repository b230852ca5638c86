#pragma once
// The program without its session: reads the arguments, opens the window, runs until it is closed.
//
//   planscope-desktop [MODEL] [--model FILE] [--plan FILE] [--size WIDTHxHEIGHT] [--light]
//   planscope-desktop --screenshot FILE --model FILE --plan FILE      writes a PNG once everything is shown, then ends
//
// Returns the exit status: 0, 1 (the picture could not be written), 2 (bad arguments).
#include <memory>

#include "app/workbench/session_view.h"

namespace planscope {

int desktop_main(int argc, char** argv, std::unique_ptr<Session> session);

}  // namespace planscope
