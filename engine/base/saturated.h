#pragma once
// Sums and products of counts (bytes, elements, nanoseconds) that never wrap: what does not fit stays at the largest or smallest
// number there is. Where that can be reached, whoever shows the number looks first whether it still means something.
//
//   saturated_product({1 << 20, 1 << 20, 1 << 24, 2})  == kMostCount
//   saturated(1e30)                                    == kMostCount
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace planscope {

inline constexpr std::int64_t kMostCount = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kLeastCount = std::numeric_limits<std::int64_t>::min();

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? (a < 0 ? kLeastCount : kMostCount) : out;
}

inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? ((a < 0) != (b < 0) ? kLeastCount : kMostCount) : out;
}

template <class Numbers>
std::int64_t saturated_product(const Numbers& numbers) {
  std::int64_t out = 1;
  for (const std::int64_t n : numbers) out = saturated_product(out, n);
  return out;
}
inline std::int64_t saturated_product(std::initializer_list<std::int64_t> numbers) {
  return saturated_product<std::initializer_list<std::int64_t>>(numbers);
}

// The nearest whole number; of what is no number, the largest.
inline std::int64_t saturated(double x) {
  if (std::isnan(x) || x >= 0x1p63) return kMostCount;
  return x <= -0x1p63 ? kLeastCount : std::llround(x);
}

}  // namespace planscope
