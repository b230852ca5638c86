#include "engine/graph/payloads.h"

#include "engine/graph/pt2/zip.h"

namespace planscope {

Payloads::Payloads(std::string_view file) {
  const Result<ZipDirectory> directory = read_zip(file);
  if (!directory.ok()) return;
  for (const auto& [name, entry] : *directory)
    if (entry.stored && entry.bytes > 0) by_offset_[entry.offset] = {name, entry.bytes, entry.crc};
}

std::optional<Diagnostic> Payloads::damage(std::string_view file, std::uint64_t offset) const {
  const auto payload = by_offset_.find(offset);
  if (payload == by_offset_.end() || payload->second.crc == 0) return std::nullopt;
  const auto& [name, bytes, crc] = payload->second;
  if (offset > file.size() || bytes > file.size() - offset || crc32(file.substr(offset, bytes)) == crc)
    return std::nullopt;
  return error("the archive is damaged",
               "the bytes of its member \"" + name + "\" have another checksum than its directory says",
               "copy or export the file again");
}

}  // namespace planscope
