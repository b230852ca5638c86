#pragma once
// Runs the real `planscope`, for tests: as a user would, with a scratch workspace.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/temporary_folder.h"

namespace planscope {

// A folder of its own that goes away with it.
class ScratchFolder {
 public:
  std::string path(const std::string& name = {}) const {
    return name.empty() ? folder_.path().string() : folder_ / name;
  }
  std::string write(const std::string& name, const std::string& text) const;  // the file's path

 private:
  TemporaryFolder folder_{"cli"};
};

std::string read_text(const std::string& path);

struct Ended {
  int status = -1;  // exit status; 128 + signal if it was killed; -1: it ran longer than it may and was killed
  std::string out, err;
};

// Standard input is empty. Output goes through files in the scratch folder.
pid_t start_planscope(const std::vector<std::string>& arguments, const ScratchFolder&, const std::string& name);
Ended finish_planscope(pid_t, const ScratchFolder&, const std::string& name,
                       std::chrono::seconds patience = std::chrono::seconds(600));  // ends what hangs
Ended planscope_program(const std::vector<std::string>& arguments, const ScratchFolder&);

bool has_worker();  // planscope-worker was built

}  // namespace planscope
