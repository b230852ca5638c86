#include "planner/search/layout/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace planscope::layouts {

bool Selection::no_worse(std::size_t a, std::size_t b) const {
  if (kept_.labels[a].cost > kept_.labels[b].cost) return false;
  for (int r = 0; r < rows_; ++r)
    if (memory(a)[r] > memory(b)[r]) return false;
  return true;
}

void Selection::aim(std::vector<Aim> rows) {
  aim_ = std::move(rows);
  targeted_ = std::any_of(aim_.begin(), aim_.end(), [](const Aim& a) { return a.distance > 0; });
}

double Selection::score(const Label& label, const double* memory) const {
  double score = label.excess;
  for (int r = 0; r < rows_; ++r) score += aim_[r].distance * std::abs(memory[r] - aim_[r].target);
  return score;
}

void Selection::add(const Label& label, const double* memory) {
  if (refused_ > 0 && score(label, memory) >= refused_) {
    lost_ = true;
    return;
  }
  if (below_stairs(label, memory)) return;
  kept_.add(label, memory, rows_);
  if (kept_.size() < next_) return;
  drop_dominated();
  if (kept_.size() > 4 * points_) reduce();
  next_ = std::max<std::size_t>(128, 2 * kept_.size());
}

// With one row, the labels that the last reduction left rise in cost and fall in memory.
bool Selection::below_stairs(const Label& label, const double* memory) const {
  const auto begin = kept_.labels.begin(), end = begin + static_cast<std::ptrdiff_t>(stairs_);
  const auto above =
      std::upper_bound(begin, end, label.cost, [](double cost, const Label& other) { return cost < other.cost; });
  return above != begin && kept_.memory[static_cast<std::size_t>(above - begin) - 1] <= memory[0];
}

void Selection::keep_staying() {
  left_.clear();
  left_.reserve(stay_.size(), rows_);
  for (const std::size_t i : stay_) left_.add(kept_.labels[i], memory(i), rows_);
  std::swap(kept_, left_);
  stairs_ = 0;
}

void Selection::drop_dominated() {
  ordered_.clear();
  for (std::size_t i = 0; i < kept_.size(); ++i) ordered_.push_back({kept_.labels[i].cost, memory(i)[0], i});
  std::sort(ordered_.begin(), ordered_.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.cost, a.memory, a.label) < std::tie(b.cost, b.memory, b.label);
  });
  stay_.clear();
  double least = std::numeric_limits<double>::infinity();
  for (const Ordered& e : ordered_) {
    const bool dominated =
        rows_ == 1 ? e.memory >= least
                   : std::any_of(stay_.begin(), stay_.end(), [&](std::size_t s) { return no_worse(s, e.label); });
    if (dominated) continue;
    least = e.memory;
    stay_.push_back(e.label);
  }
  keep_staying();
  stairs_ = rows_ == 1 ? kept_.size() : 0;
}

// Of one row, whose labels fall or rise in memory: how many cells have any.
std::size_t Selection::cells(double widen) const {
  const double unit = aim_[0].unit * widen;
  std::size_t count = 0;
  std::uint64_t last = 0;
  for (const double memory : kept_.memory) {
    const auto cell = static_cast<std::uint64_t>(memory / unit);
    count += count == 0 || cell != last;
    last = cell;
  }
  return count;
}

// One label stays for each cell: that of least excess; and the one that needs least of each row, so that a choice within
// the limits is not lost to rounding up.
void Selection::drop_near(double widen) {
  const std::size_t n = kept_.size();
  least_.assign(rows_, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (int r = 0; r < rows_; ++r)
      if (memory(i)[r] < memory(least_[r])[r]) least_[r] = i;
  // Of one row, what is not dominated falls or rises in memory: cells stand in order, once it is read upwards.
  const bool falls = rows_ == 1 && memory(0)[0] > memory(n - 1)[0];
  placed_.clear();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = falls ? n - 1 - k : k;
    std::uint64_t cell = 0;
    for (int r = 0; r < rows_; ++r)
      cell = cell * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(memory(i)[r] / (aim_[r].unit * widen));
    placed_.push_back({cell, kept_.labels[i].excess, i});
  }
  const auto before = [](const Placed& a, const Placed& b) {
    return std::tie(a.cell, a.excess, a.label) < std::tie(b.cell, b.excess, b.label);
  };
  if (rows_ > 1) std::sort(placed_.begin(), placed_.end(), before);
  stay_.clear();
  for (auto cell = placed_.begin(); cell != placed_.end();) {
    const auto end = std::find_if(cell, placed_.end(), [&](const Placed& p) { return p.cell != cell->cell; });
    if (rows_ == 1) std::sort(cell, end, before);
    for (auto p = cell; p != end; ++p)
      if (p == cell || std::count(least_.begin(), least_.end(), p->label)) stay_.push_back(p->label);
    cell = end;
  }
  if (stay_.size() == kept_.size()) return;
  lost_ = true;
  keep_staying();
}

void Selection::drop_worst() {
  lost_ = true;
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t i = 0; i < kept_.size(); ++i) scores.emplace_back(score(kept_.labels[i], memory(i)), i);
  std::sort(scores.begin(), scores.end());
  refused_ = scores[points_ - 1].first;
  stay_.clear();
  for (std::size_t k = 0; k < points_; ++k) stay_.push_back(scores[k].second);
  keep_staying();
}

void Selection::reduce() {
  drop_dominated();
  if (kept_.size() <= points_) return;
  double widen = 1;
  const auto wider = [&] { widen = widen == 1 ? 2 : 1.5 * widen; };
  if (rows_ == 1 && !targeted_)
    while (cells(widen) > points_ + 1) wider();
  drop_near(widen);
  while (!targeted_ && kept_.size() > points_ + rows_) {
    wider();
    drop_near(widen);
  }
  if (targeted_ && kept_.size() > points_) drop_worst();
}

void Selection::move_to(Labels& out) {
  reduce();
  stay_.resize(kept_.size());
  std::iota(stay_.begin(), stay_.end(), 0);
  std::sort(stay_.begin(), stay_.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(kept_.labels[a].excess, a) < std::tie(kept_.labels[b].excess, b);
  });
  for (const std::size_t i : stay_) out.add(kept_.labels[i], memory(i), rows_);
  kept_.clear();
  refused_ = 0;
  stairs_ = 0;
  next_ = 128;
}

}  // namespace planscope::layouts
