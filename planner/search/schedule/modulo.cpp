#include "planner/search/schedule/modulo.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr unsigned kSeed = 7;

// What is taken of each resource, modulo the period.
class Reserved {
 public:
  Reserved(int resources, std::int64_t period) : period_(period), taken_(at(resources)) {}

  // The first moment from `start` on (`step` 1) or back from it (-1), within a period, at which the task fits.
  std::optional<std::int64_t> fit(const Task& task, std::int64_t start, int step) const {
    if (task.time > period_) return std::nullopt;
    const std::int64_t first = start;
    for (bool moved = true; moved;) {
      moved = false;
      for (int r : task.resources)
        for (const auto& [from, length] : taken_[at(r)]) {
          // How far behind the start of what is there the task would start.
          const std::int64_t behind = start - from - floor_div(start - from, period_) * period_;
          if (behind >= length && behind + task.time <= period_) continue;
          if (task.time == 0 && (behind == 0 || behind >= length)) continue;
          const std::int64_t ahead = behind < length ? 0 : period_;  // the one that is met: this one or the next
          start += step > 0 ? ahead + length - behind : ahead - task.time - behind;
          moved = true;
          if ((start - first) * step > period_) return std::nullopt;
        }
    }
    return start;
  }
  // The first moment from `start` on at which something on the task's resources ends; `start` if there is nothing.
  std::int64_t next_end(const Task& task, std::int64_t start) const {
    std::optional<std::int64_t> least;
    for (int r : task.resources)
      for (const auto& [from, length] : taken_[at(r)]) {
        const std::int64_t end = from + length;
        const std::int64_t moment = end + ceil_div(start - end, period_) * period_;
        least = std::min(least.value_or(moment), moment);
      }
    return least.value_or(start);
  }
  void take(const Task& task, std::int64_t start) {
    if (task.time == 0) return;
    for (int r : task.resources) taken_[at(r)].emplace_back(start - floor_div(start, period_) * period_, task.time);
  }

 private:
  std::int64_t period_;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> taken_;
};

class Placing {
 public:
  Placing(const Problem& p, std::int64_t period)
      : p_(p), period_(period), into_(p.tasks.size()), out_of_(p.tasks.size()) {
    for (const Edge& e : p.edges) {
      into_[at(e.to)].push_back(e);
      out_of_[at(e.from)].push_back(e);
    }
  }

  struct Turn {
    int task = 0;
    bool beside = true;  // what is there already, instead of at once
  };

  std::optional<Pattern> place(const std::vector<Turn>& list) const {
    Reserved reserved(p_.resources, period_);
    std::vector<std::optional<std::int64_t>> start(p_.tasks.size());
    for (const auto& [t, beside] : list) {
      std::optional<std::int64_t> after, before;
      for (const Edge& e : into_[at(t)])
        if (const auto& s = start[at(e.from)])
          after = std::max(after.value_or(INT64_MIN), *s + e.span - period_ * e.distance);
      for (const Edge& e : out_of_[at(t)])
        if (const auto& s = start[at(e.to)])
          before = std::min(before.value_or(INT64_MAX), *s + period_ * e.distance - e.span);
      const bool late = !after && before;
      std::int64_t first = late ? *before : after.value_or(0);
      if (beside && !late) first = reserved.next_end(p_.tasks[at(t)], first);
      start[at(t)] = reserved.fit(p_.tasks[at(t)], first, late ? -1 : 1);
      if (!start[at(t)]) return std::nullopt;
      reserved.take(p_.tasks[at(t)], *start[at(t)]);
    }
    std::vector<std::int64_t> offset;
    for (const auto& s : start) offset.push_back(*s - floor_div(*s, period_) * period_);
    return pattern_at(p_, period_, offset);
  }

  // By how much devices hold more than they have.
  std::int64_t excess(const Pattern& s) const {
    std::int64_t out = 0;
    for (int d = 0; d < p_.devices; ++d)
      if (p_.memory[at(d)]) out += std::max<std::int64_t>(0, steady_memory(p_, s, d) - *p_.memory[at(d)]);
    return out;
  }

 private:
  const Problem& p_;
  std::int64_t period_;
  std::vector<std::vector<Edge>> into_, out_of_;
};

}  // namespace

std::optional<Pattern> modulo_pattern(const Problem& p, std::int64_t period, int tries, const Deadline& deadline) {
  const Placing placing(p, period);
  std::mt19937 random(kSeed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  // Straight through, so that little is held; or first what takes most resources, so that long tasks find room beside it.
  std::vector<std::vector<Placing::Turn>> first(4);
  for (std::size_t k = 0; k < first.size(); ++k)
    for (int t : p.topological) first[k].push_back({t, k % 2 == 1});
  for (std::size_t k = 2; k < first.size(); ++k)
    std::stable_sort(first[k].begin(), first[k].end(), [&](const Placing::Turn& a, const Placing::Turn& b) {
      return p.tasks[at(a.task)].resources.size() > p.tasks[at(b.task)].resources.size();
    });
  std::vector<Placing::Turn> best = first[0];
  std::pair<std::int64_t, std::int64_t> least(INT64_MAX, INT64_MAX);
  std::optional<Pattern> out;
  for (std::size_t attempt = 0; attempt < static_cast<std::size_t>(tries) && !deadline.expired(); ++attempt) {
    std::vector<Placing::Turn> list = attempt < first.size() ? first[attempt] : best;
    if (attempt >= first.size()) {
      const std::size_t from = below(list.size());
      Placing::Turn moved = list[from];
      if (below(4) == 0) moved.beside = !moved.beside;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(from));
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(below(list.size() + 1)), moved);
    }
    std::optional<Pattern> s = placing.place(list);
    if (!s) continue;
    const std::pair<std::int64_t, std::int64_t> rank(placing.excess(*s), length(p, *s));
    if (rank > least) continue;
    least = rank;
    best = std::move(list);
    if (rank.first == 0 && !violation(p, *s)) out = std::move(s);
  }
  return out;
}

}  // namespace planscope::schedule
