#pragma once
// Text cases: `key: value` lines, a line `--`, the input, a line `--`, the whole expected output.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace planscope::testing {

struct TextCase {
  std::string file;
  std::map<std::string, std::string> keys;
  std::string input, expected;
};

inline TextCase read_text_case(const std::filesystem::path& path) {
  TextCase c;
  c.file = path.string();
  std::ifstream in(path);
  std::string line;
  int part = 0;
  while (std::getline(in, line)) {
    if (line == "--" && part < 2) {
      ++part;
    } else if (part == 0) {
      if (const std::size_t colon = line.find(": "); colon != std::string::npos && line[0] != '#')
        c.keys[line.substr(0, colon)] = line.substr(colon + 2);
    } else {
      (part == 1 ? c.input : c.expected) += line + "\n";
    }
  }
  return c;
}

inline std::vector<TextCase> text_cases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& e : std::filesystem::directory_iterator(folder))
    if (e.path().extension() == ".test") files.push_back(e.path());
  std::sort(files.begin(), files.end());
  std::vector<TextCase> out;
  for (const auto& f : files) out.push_back(read_text_case(f));
  return out;
}

}  // namespace planscope::testing
