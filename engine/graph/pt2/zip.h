#pragma once
// The directory of a ZIP file whose entries are stored (not compressed, not encrypted), as torch writes them: names and
// where the bytes are. zip64 is read. Sizes come from the central directory (local headers may leave them out).
// Every offset, size and count is checked against the file before use.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"

namespace planscope {

struct ZipEntry {
  std::uint64_t offset = 0;  // of the data in the file
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
  bool stored = true;  // false: compressed or encrypted; offset and bytes mean nothing then
};

using ZipDirectory = std::map<std::string, ZipEntry, std::less<>>;

// The diagnostics have no file name; the caller knows it.
Result<ZipDirectory> read_zip(std::string_view file);

std::uint32_t crc32(std::string_view bytes);

}  // namespace planscope
