#pragma once
// A list of numbers as the key of a hash table, and the step from number to number for keys that are no lists.
//
//   std::unordered_map<std::vector<std::int64_t>, int, NumbersHash> known;
//   h = mixed(h, key.axis), h = mixed(h, key.size);
#include <cstddef>
#include <cstdint>
#include <vector>

namespace planscope {

inline std::uint64_t mixed(std::uint64_t h, std::int64_t n) {
  return (h ^ static_cast<std::uint64_t>(n)) * 0x9E3779B97F4A7C15ULL + (h >> 29);
}

struct NumbersHash {
  std::size_t operator()(const std::vector<std::int64_t>& numbers) const {
    std::uint64_t h = numbers.size();
    for (const std::int64_t n : numbers) h = mixed(h, n);
    return static_cast<std::size_t>(h);
  }
};

}  // namespace planscope
