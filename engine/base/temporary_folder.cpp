#include "engine/base/temporary_folder.h"

#include <stdlib.h>

namespace planscope {

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string pattern = (std::filesystem::temp_directory_path() / ("planscope-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace planscope
