#pragma once
// Writes a file whole or not at all: into a temporary file beside it, which then takes its place. What a link points to is
// replaced, not the link; what is no file (a pipe, a device) is written to and stays. A pipe that nobody reads is refused;
// one whose reader takes its time is waited for until a signal comes (whose handler is set without SA_RESTART).
//
// The temporary file has a name of its own that nobody can guess, and the permissions of the file that it replaces.
//
// The result says why it could not be written; empty: it has been. Then nothing new is left behind.
//
//   const std::string problem = replace_file("plan.json", [&](std::ostream& out) { out << text; });
#include <functional>
#include <ostream>
#include <string>

namespace planscope {

std::string replace_file(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace planscope
