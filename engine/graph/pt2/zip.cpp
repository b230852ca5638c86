#include "engine/graph/pt2/zip.h"

#include <array>
#include <cstring>
#include <optional>

namespace planscope {
namespace {

constexpr std::uint64_t end_bytes = 22, end64_bytes = 56, locator_bytes = 20, central_bytes = 46, local_bytes = 30;
constexpr std::uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator_mark = 0x07064b50,
                        central_mark = 0x02014b50, local_mark = 0x04034b50;

bool fits(std::string_view file, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= file.size() && bytes <= file.size() - offset;
}

// Little-endian field of a range that the caller has checked.
template <class T>
T field(std::string_view file, std::uint64_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(file[offset + i])) << (8 * i));
  return value;
}

Diagnostic corrupt(std::string why) {
  return error("the archive is damaged", std::move(why), "copy or export the file again");
}

struct Central {
  std::uint64_t offset = 0, bytes = 0, count = 0;
};

std::optional<std::uint64_t> find_end(std::string_view file) {
  if (file.size() < end_bytes) return std::nullopt;
  std::uint64_t last = file.size() - end_bytes, first = last > 0xffff ? last - 0xffff : 0;
  for (std::uint64_t at = last + 1; at-- > first;)
    if (field<std::uint32_t>(file, at) == end_mark &&
        at + end_bytes + field<std::uint16_t>(file, at + 20) == file.size())
      return at;
  return std::nullopt;
}

Result<Central> find_central(std::string_view file) {
  auto end = find_end(file);
  if (!end) return corrupt("the directory at its end is missing: the file is cut off or no ZIP file");
  Central central{field<std::uint32_t>(file, *end + 16), field<std::uint32_t>(file, *end + 12),
                  field<std::uint16_t>(file, *end + 10)};
  if (*end >= locator_bytes && field<std::uint32_t>(file, *end - locator_bytes) == locator_mark) {
    auto at = field<std::uint64_t>(file, *end - locator_bytes + 8);
    if (!fits(file, at, end64_bytes) || field<std::uint32_t>(file, at) != end64_mark)
      return corrupt("the 64-bit end record is not where the locator says");
    central = {field<std::uint64_t>(file, at + 48), field<std::uint64_t>(file, at + 40),
               field<std::uint64_t>(file, at + 32)};
  }
  if (!fits(file, central.offset, central.bytes)) return corrupt("the directory lies outside the file");
  if (central.count > central.bytes / central_bytes) return corrupt("the directory is shorter than its entries");
  return central;
}

struct Entry {
  std::uint64_t compressed = 0, bytes = 0, header = 0;
};

// The zip64 extra field replaces those fields that are all ones, in this order.
bool read_zip64(std::string_view extra, Entry& entry) {
  while (extra.size() >= 4) {
    auto id = field<std::uint16_t>(extra, 0), size = field<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    std::string_view data = extra.substr(4, size);
    extra.remove_prefix(4u + size);
    if (id != 1) continue;
    for (std::uint64_t* part : {&entry.bytes, &entry.compressed, &entry.header}) {
      if (*part != 0xffffffff) continue;
      if (data.size() < 8) return false;
      *part = field<std::uint64_t>(data, 0);
      data.remove_prefix(8);
    }
  }
  return true;
}

}  // namespace

Result<ZipDirectory> read_zip(std::string_view file) {
  Result<Central> central = find_central(file);
  if (!central.ok()) return central.diagnostics;
  ZipDirectory directory;
  std::uint64_t at = central->offset, end = central->offset + central->bytes;
  for (std::uint64_t i = 0; i < central->count; ++i) {
    if (end - at < central_bytes || field<std::uint32_t>(file, at) != central_mark)
      return corrupt("entry " + std::to_string(i) + " of the directory is not one");
    auto flags = field<std::uint16_t>(file, at + 8), method = field<std::uint16_t>(file, at + 10);
    std::uint64_t name_bytes = field<std::uint16_t>(file, at + 28), extra_bytes = field<std::uint16_t>(file, at + 30),
                  comment_bytes = field<std::uint16_t>(file, at + 32);
    if (end - at - central_bytes < name_bytes + extra_bytes + comment_bytes)
      return corrupt("entry " + std::to_string(i) + " of the directory runs over its end");
    std::string name(file.substr(at + central_bytes, name_bytes));
    Entry entry{field<std::uint32_t>(file, at + 20), field<std::uint32_t>(file, at + 24),
                field<std::uint32_t>(file, at + 42)};
    if (!read_zip64(file.substr(at + central_bytes + name_bytes, extra_bytes), entry))
      return corrupt("the sizes of \"" + name + "\" are damaged");
    if (!fits(file, entry.header, local_bytes) || field<std::uint32_t>(file, entry.header) != local_mark)
      return corrupt("\"" + name + "\" is not where the directory says");
    std::uint64_t data = entry.header + local_bytes + field<std::uint16_t>(file, entry.header + 26) +
                         field<std::uint16_t>(file, entry.header + 28);
    if (!fits(file, data, entry.compressed)) return corrupt("\"" + name + "\" runs over the end of the file");
    bool stored = method == 0 && !(flags & 1) && entry.compressed == entry.bytes;
    if (!directory.try_emplace(name, ZipEntry{data, entry.compressed, field<std::uint32_t>(file, at + 16), stored})
             .second)
      return corrupt("it holds \"" + name + "\" twice");
    at += central_bytes + name_bytes + extra_bytes + comment_bytes;
  }
  return directory;
}

// Eight bytes at a time: row k of the table is what a byte comes to that k more follow.
std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::array<std::uint32_t, 256>, 8> rows{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t row = i;
      for (int bit = 0; bit < 8; ++bit) row = (row >> 1) ^ (row & 1 ? 0xedb88320u : 0u);
      rows[0][i] = row;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i) rows[k][i] = (rows[k - 1][i] >> 8) ^ rows[0][rows[k - 1][i] & 0xff];
    return rows;
  }();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::uint32_t sum = ~0u;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint32_t next = 0;
    for (std::size_t k = 0; k < 4; ++k) next ^= table[7 - k][(sum >> (8 * k) & 0xff) ^ byte(i + k)];
    for (std::size_t k = 4; k < 8; ++k) next ^= table[7 - k][byte(i + k)];
    sum = next;
  }
  for (; i < bytes.size(); ++i) sum = (sum >> 8) ^ table[0][(sum & 0xff) ^ byte(i)];
  return ~sum;
}

}  // namespace planscope
