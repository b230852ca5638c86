#pragma once
// Starts another program of the project and reads what it prints.
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::cli {

struct ChildOutput {
  int status = 0;   // exit status; 128 + signal if it was killed
  std::string out;  // standard output; standard error is ours
};

// Errors: the program is not there or cannot be started.
Result<ChildOutput> run_child(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace planscope::cli
