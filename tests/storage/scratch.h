#pragma once
// A folder for one test, removed with all that is in it.
#include <stdlib.h>

#include <filesystem>
#include <string>

struct Scratch {
  std::filesystem::path folder;

  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "planscope-test-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& name) const { return (folder / name).string(); }
};
