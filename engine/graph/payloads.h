#pragma once
// The members of a model's archive by where their bytes are, for those who read weights themselves (Weight::offset).
//
//   const Payloads payloads(file);                      // reads the directory at the file's end alone
//   if (auto d = payloads.damage(file, weight.offset))  // reads the bytes of that one member
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/diagnostic.h"

namespace planscope {

class Payloads {
 public:
  Payloads() = default;
  explicit Payloads(std::string_view file);  // a ZIP archive; of anything else there are none

  // Names the member at this offset if its CRC-32 is not that of the directory. Nothing: it is, or the archive was
  // written without checksums.
  std::optional<Diagnostic> damage(std::string_view file, std::uint64_t offset) const;

 private:
  struct Payload {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
  };
  std::map<std::uint64_t, Payload> by_offset_;
};

}  // namespace planscope
