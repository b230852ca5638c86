#pragma once
// Small archives for tests: stored ZIP entries, written as bytes.
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/pt2/zip.h"

namespace planscope::testing {

using Records = std::vector<std::pair<std::string, std::string>>;

inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  return text;
}

// `method` 8 claims that the entries are compressed.
inline std::string zip_bytes(const Records& records, int method = 0) {
  std::string file, directory;
  for (const auto& [name, data] : records) {
    std::string sizes = little(crc32(data), 4) + little(data.size(), 4) + little(data.size(), 4);
    std::string common = little(0, 2) + little(static_cast<std::uint64_t>(method), 2) + little(0, 4) + sizes;
    directory += little(0x02014b50, 4) + little(0, 2) + little(0, 2) + common + little(name.size(), 2) + little(0, 10) +
                 little(0, 2) + little(file.size(), 4) + name;
    file += little(0x04034b50, 4) + little(0, 2) + common + little(name.size(), 2) + little(0, 2) + name + data;
  }
  std::string end = little(0x06054b50, 4) + little(0, 4) + little(records.size(), 2) + little(records.size(), 2) +
                    little(directory.size(), 4) + little(file.size(), 4) + little(0, 2);
  return file + directory + end;
}

inline std::string write_file(const std::string& name, const std::string& bytes) {
  std::string path = "/tmp/planscope_" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace planscope::testing
