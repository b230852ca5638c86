#pragma once
// The program without its session: reads the arguments, opens the window, runs until it is closed.
//
//   planscope-desktop [MODEL] [--model FILE] [--plan FILE] [--workspace FILE] [--size WIDTHxHEIGHT] [--light]
//   planscope-desktop --screenshot FILE --model FILE --plan FILE      writes a PNG once everything is shown, then ends
//
// Returns the exit status: 0, 1 (the picture could not be written), 2 (bad arguments).
#include <functional>
#include <memory>
#include <string>

#include "app/workbench/session_view.h"

namespace planscope {

// Makes the session that the window shows, with the workspace of that file.
using MakeSession = std::function<std::unique_ptr<Session>(const std::string& workspace)>;

int desktop_main(int argc, char** argv, const std::string& default_workspace, const MakeSession&);

}  // namespace planscope
