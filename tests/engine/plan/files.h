#pragma once
// The plan files that tests read, by name, in a fixed order.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace planscope::plan {

struct TextFile {
  std::string path, text;
};

inline std::vector<TextFile> files_below(const std::string& folder, const std::string& extension) {
  std::vector<TextFile> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != extension) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    out.push_back({entry.path().string(), text.str()});
  }
  std::sort(out.begin(), out.end(), [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
  return out;
}

}  // namespace planscope::plan
