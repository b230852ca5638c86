#pragma once
// A folder of its own for a test, gone with it.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "engine/base/temporary_folder.h"

namespace planscope::testing {

inline std::string read_file_text(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class Scratch {
 public:
  std::string path() const { return folder_.path().string(); }
  std::string file(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string read(const std::string& name) const {
    return read_file_text(file(name));
  }

 private:
  TemporaryFolder folder_{"session"};
};

}  // namespace planscope::testing
