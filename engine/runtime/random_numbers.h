#pragma once
// Numbers drawn by name and place: element i of a tensor gets the same number in every layout, on every device and in
// every run. A 64-bit mix (splitmix64) of key and index; no state.
#include <string_view>

#include "engine/runtime/blocks.h"

namespace planscope {

std::uint64_t random_key(std::uint64_t seed, std::string_view name);
std::uint64_t random_bits(std::uint64_t key, std::uint64_t index);

// Blocks of a whole tensor whose parts have the sizes `whole`. Types: float64, int64.
at::Tensor random_uniform(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole,
                          const Region&);  // [0, 1)
// About normal: the sum of four uniform 16-bit numbers, mean 0, variance 1, within ±3.5.
at::Tensor random_normal(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region&);
// Normal numbers in float64; where `complex`, such a real and such an imaginary part each of variance 1/2.
at::Tensor random_normal(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region&,
                         bool complex);
at::Tensor random_integers(std::uint64_t key, std::int64_t bound, const std::vector<std::vector<std::int64_t>>& whole,
                           const Region&);  // [0, bound)
// 0 where a uniform number is below p, else 1 / (1 - p); of a floating type.
at::Tensor random_dropout(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region&,
                          double p, at::ScalarType);

}  // namespace planscope
