#include "planner/search/layout/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace planscope::layouts {

namespace {

constexpr double first_width = 0.05;

std::size_t table_size(std::size_t labels) {
  std::size_t size = 16;
  while (size < 4 * labels) size *= 2;
  return size;
}

}  // namespace

Selection::Selection(int rows, int points, std::vector<double> units)
    : rows_(rows),
      points_(static_cast<std::size_t>(points)),
      most_(8 * static_cast<std::size_t>(points)),
      units_(std::move(units)),
      slots_(table_size(most_), 0) {}

std::uint64_t Selection::cell(const double* memory) const {
  std::uint64_t key = 0;
  for (int r = 0; r < rows_; ++r) {
    const double at = width_ == 0 ? memory[r] : std::floor(std::asinh((memory[r] - target_[r]) / units_[r]) / width_);
    key = (key + static_cast<std::uint64_t>(static_cast<std::int64_t>(at))) * 0x9E3779B97F4A7C15ull;
  }
  return key;
}

bool Selection::no_worse(std::size_t a, std::size_t b) const {
  if (kept_.labels[a].cost > kept_.labels[b].cost) return false;
  for (int r = 0; r < rows_; ++r)
    if (memory(a)[r] > memory(b)[r]) return false;
  return true;
}

void Selection::place(const Label& label, const double* m) {
  const std::uint64_t key = cell(m);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (key >> 32) & mask;
  while (slots_[slot] && cells_[slots_[slot] - 1] != key) slot = (slot + 1) & mask;
  kept_.labels.push_back(label);
  kept_.memory.insert(kept_.memory.end(), m, m + rows_);
  const std::size_t added = kept_.size() - 1;
  if (!slots_[slot]) {
    slots_[slot] = static_cast<std::int32_t>(added) + 1;
    cells_.push_back(key);
    return;
  }
  const std::size_t there = slots_[slot] - 1;
  const bool better = no_worse(added, there);
  const bool worse = !better && no_worse(there, added);
  if (!better && !worse) lost_ = true;
  if (better || (!worse && label.excess < kept_.labels[there].excess)) {
    kept_.labels[there] = label;
    std::copy_n(m, rows_, &kept_.memory[there * rows_]);
  }
  kept_.labels.pop_back();
  kept_.memory.resize(kept_.memory.size() - rows_);
}

void Selection::add(const Label& label, const double* memory) {
  place(label, memory);
  if (kept_.size() >= most_) reduce(most_ / 2);
}

void Selection::rebuild() {
  Labels old;
  std::swap(old, kept_);
  cells_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  for (std::size_t i = 0; i < old.size(); ++i) place(old.labels[i], &old.memory[i * rows_]);
}

void Selection::drop_dominated() {
  std::vector<std::size_t> order(kept_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (kept_.labels[a].cost != kept_.labels[b].cost) return kept_.labels[a].cost < kept_.labels[b].cost;
    return std::lexicographical_compare(memory(a), memory(a) + rows_, memory(b), memory(b) + rows_);
  });
  std::vector<std::size_t> stay;
  for (const std::size_t i : order) {
    // With one row the last that stays needs least of all so far.
    const bool dominated = rows_ == 1 ? !stay.empty() && memory(stay.back())[0] <= memory(i)[0]
                                      : std::any_of(stay.begin(), stay.end(), [&](std::size_t s) { return no_worse(s, i); });
    if (!dominated) stay.push_back(i);
  }
  Labels left;
  for (const std::size_t i : stay) {
    left.labels.push_back(kept_.labels[i]);
    left.memory.insert(left.memory.end(), memory(i), memory(i) + rows_);
  }
  kept_ = std::move(left);
}

void Selection::reduce(std::size_t to) {
  drop_dominated();
  while (kept_.size() > to) {
    width_ = std::max(first_width, 1.5 * width_);
    rebuild();
  }
  rebuild();
}

void Selection::move_to(Labels& out) {
  if (kept_.size() > points_)
    reduce(points_);
  else
    drop_dominated();
  std::vector<std::size_t> order(kept_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return kept_.labels[a].excess < kept_.labels[b].excess; });
  for (const std::size_t i : order) {
    out.labels.push_back(kept_.labels[i]);
    out.memory.insert(out.memory.end(), memory(i), memory(i) + rows_);
  }
  kept_ = {};
  cells_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  width_ = 0;
}

}  // namespace planscope::layouts
