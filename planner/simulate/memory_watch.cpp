#include "planner/simulate/memory_watch.h"

#include <algorithm>

namespace planscope {

void MemoryWatch::change(const MemoryChange& c, std::optional<Nanoseconds> time) {
  if (!wanted_) return;
  Entry& e = entries_[{c.of, c.kind}];
  if (!taken_ && e.now == 0) e.from = time;
  e.now += c.bytes;
  if (taken_ && e.now == 0 && !e.over) e.to = time, e.over = true;
}

void MemoryWatch::moment(const Moment& m, const std::vector<MemoryChange>& at_work) {
  if (wanted_ && !taken_ && moments_.size() == *wanted_) {
    for (auto& [of, e] : entries_) e.then = e.now;
    for (const MemoryChange& c : at_work) {
      Entry& e = entries_[{c.of, c.kind}];
      e.then += c.bytes;
      if (c.of.kind == Owner::Kind::working_set) e.from = m.time;
    }
    taken_ = true;
  } else if (taken_ && moments_.size() == *wanted_ + 1) {
    for (auto& [of, e] : entries_)
      if (of.first.kind == Owner::Kind::working_set) e.to = m.time;
  }
  moments_.push_back(m);
  if (moments_.size() > 1) moments_.back().time = std::max(m.time, moments_[moments_.size() - 2].time);
}

std::size_t MemoryWatch::fullest(Nanoseconds from, Nanoseconds to) const {
  const auto later = std::upper_bound(moments_.begin(), moments_.end(), from,
                                      [](Nanoseconds t, const Moment& m) { return t < m.time; });
  auto best = later == moments_.begin() ? later : later - 1;
  while (best != moments_.begin() && best->time == from && (best - 1)->time == from) --best;
  for (auto m = best; m != moments_.end() && m->time <= to; ++m)
    if (m->bytes > best->bytes) best = m;
  return static_cast<std::size_t>(best - moments_.begin());
}

std::vector<MemoryWatch::Alive> MemoryWatch::alive() const {
  std::vector<Alive> out;
  for (const auto& [of, e] : entries_)
    if (e.then != 0) out.push_back({of.first, of.second, e.then, e.from, e.to});
  return out;
}

}  // namespace planscope
