#pragma once
// The program: reads the arguments, opens the window, runs until it is closed.
//
//   planscope-desktop [MODEL] [--model FILE] [--plan FILE] [--cluster NAME] [--workspace FILE] [--size
// WIDTHxHEIGHT] [--light | --dark]
//   planscope-desktop --screenshot FILE --model FILE --plan FILE      writes a PNG once everything is shown, then ends
//
// Returns the exit status: 0, 1 (the picture could not be written), 2 (bad arguments, or there is no display).
#include <string>

namespace planscope {

int desktop_main(int argc, char** argv, const std::string& default_workspace);

// Why no window can be opened, from what the environment and the arguments say; empty: it can.
std::string no_display(int argc, char** argv);

}  // namespace planscope
