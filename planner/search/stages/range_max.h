#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace planscope::stages {

// The largest of any range, by a table of those of 2^k values (Bender, Farach-Colton, "The LCA problem revisited", 2000).
class RangeMax {
 public:
  explicit RangeMax(std::vector<std::int64_t> values) : rows_{std::move(values)} {
    for (std::size_t width = 1; 2 * width <= rows_[0].size(); width *= 2) {
      const std::vector<std::int64_t>& half = rows_.back();
      std::vector<std::int64_t> row(half.size() - width);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::max(half[i], half[i + width]);
      rows_.push_back(std::move(row));
    }
  }
  std::int64_t of(int first, int end) const {  // 0: empty
    if (first >= end) return 0;
    const auto k = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(end - first)) - 1);
    const std::size_t last = static_cast<std::size_t>(end) - (std::size_t{1} << k);
    return std::max(rows_[k][static_cast<std::size_t>(first)], rows_[k][last]);
  }

 private:
  std::vector<std::vector<std::int64_t>> rows_;
};

}  // namespace planscope::stages
