#include "planner/search/schedule/coarse.h"

#include <algorithm>
#include <numeric>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// time * slots / period without overflow: times are at most some periods long.
std::int64_t scaled(std::int64_t time, std::int64_t period, std::int64_t slots) {
  return time / period * slots + static_cast<std::int64_t>(static_cast<__int128>(time % period) * slots / period);
}

}  // namespace

std::int64_t common_unit(const Problem& p) {
  std::int64_t unit = 0;
  for (const Task& t : p.tasks) unit = std::gcd(unit, t.time);
  for (const Edge& e : p.edges) unit = std::gcd(unit, e.span);
  return std::max<std::int64_t>(1, unit);
}

Problem rounded(const Problem& p, std::int64_t unit) {
  Problem out = p;
  const auto units = [&](std::int64_t time) {
    return time == 0 ? 0 : std::max<std::int64_t>(1, (time + unit / 2) / unit);
  };
  for (Task& t : out.tasks) t.time = units(t.time);
  for (Edge& e : out.edges)
    e.span = out.tasks[at(e.from)].time + units(std::max<std::int64_t>(0, e.span - p.tasks[at(e.from)].time));
  return out;
}

Problem rounded_down(const Problem& p, std::int64_t period, std::int64_t slots) {
  Problem out = p;
  for (Task& t : out.tasks) t.time = scaled(t.time, period, slots);
  for (Edge& e : out.edges) e.span = scaled(e.span, period, slots);
  return out;
}

std::int64_t slots_for(const Problem& p, std::int64_t period, std::int64_t most) {
  std::int64_t best = most;
  double least = 1;
  for (std::int64_t slots = 1; slots <= most; ++slots) {
    std::vector<double> lost(at(p.resources), 0);
    for (const Task& t : p.tasks) {
      const double exact = static_cast<double>(t.time) * static_cast<double>(slots) / static_cast<double>(period);
      const double rest = exact - static_cast<double>(scaled(t.time, period, slots));
      for (int r : t.resources) lost[at(r)] += rest;
    }
    const double share = *std::max_element(lost.begin(), lost.end()) / static_cast<double>(slots);
    if (share >= least) continue;
    least = share;
    best = slots;
  }
  return best;
}

}  // namespace planscope::schedule
