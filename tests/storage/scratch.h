#pragma once
// A folder for one test, removed with all that is in it.
#include "engine/base/temporary_folder.h"

struct Scratch {
  planscope::TemporaryFolder made{"test"};
  const std::filesystem::path& folder = made.path();

  std::string file(const std::string& name) const { return made / name; }
};
