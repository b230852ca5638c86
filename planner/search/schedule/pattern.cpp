#include "planner/search/schedule/pattern.h"

#include <algorithm>
#include <map>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::int64_t mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }
// Amount times time that a device holds at least in a period: what is taken is matched with what gives it back behind it,
// nearest first; that is a lower bound whatever the matching, as give-backs and takes add up to the same. Nothing where some
// take has no give-back behind it.
std::optional<std::int64_t> least_area(const Problem& p, int device) {
  std::map<int, std::int64_t> open;  // give-backs: amounts
  for (int t : p.on_device[at(device)])
    if (p.tasks[at(t)].memory < 0) open[t] = -p.tasks[at(t)].memory;
  std::int64_t area = 0;
  std::vector<int> takers;
  for (auto t = p.topological.rbegin(); t != p.topological.rend(); ++t)
    if (p.tasks[at(*t)].memory > 0 && std::find(p.tasks[at(*t)].devices.begin(), p.tasks[at(*t)].devices.end(),
                                                device) != p.tasks[at(*t)].devices.end())
      takers.push_back(*t);
  for (int t : takers) {
    const std::vector<std::int64_t> longest = longest_paths(p, t);
    std::int64_t amount = p.tasks[at(t)].memory;
    while (amount > 0) {
      int best = -1;
      for (const auto& [give, left] : open)
        if (left > 0 && longest[at(give)] >= 0 && (best < 0 || longest[at(give)] < longest[at(best)])) best = give;
      if (best < 0) return std::nullopt;
      const std::int64_t part = std::min(amount, open[best]);
      area += part * (longest[at(best)] + p.tasks[at(best)].time);
      open[best] -= part;
      amount -= part;
    }
  }
  return area;
}

// Whether starts exist with start[to] + period * distance >= start[from] + span for all edges.
bool feasible(const Problem& p, std::int64_t period) {
  std::vector<std::int64_t> start(p.tasks.size(), 0);
  for (std::size_t round = 0; round <= p.tasks.size(); ++round) {
    bool changed = false;
    for (const Edge& e : p.edges) {
      const std::int64_t least = start[at(e.from)] + e.span - period * e.distance;
      if (start[at(e.to)] >= least) continue;
      start[at(e.to)] = least;
      changed = true;
    }
    if (!changed) return true;
  }
  return false;
}

std::int64_t recurrence_bound(const Problem& p, std::int64_t low) {
  if (feasible(p, low)) return low;
  std::int64_t total = low;
  for (const Edge& e : p.edges) total += e.span;
  if (!feasible(p, total)) return total;  // a cycle with no distance: never
  std::int64_t no = low, yes = total;
  while (yes - no > 1) {
    const std::int64_t middle = no + (yes - no) / 2;
    (feasible(p, middle) ? yes : no) = middle;
  }
  return yes;
}

// What takes memory starts as many whole periods later as those behind it allow.
void delay_takers(const Problem& p, Pattern& s) {
  std::vector<std::vector<int>> all_out(p.tasks.size());
  for (std::size_t e = 0; e < p.edges.size(); ++e) all_out[at(p.edges[e].from)].push_back(static_cast<int>(e));
  for (auto t = p.topological.rbegin(); t != p.topological.rend(); ++t) {
    if (p.tasks[at(*t)].memory < 0 || all_out[at(*t)].empty()) continue;
    std::int64_t room = INT64_MAX;
    for (int e : all_out[at(*t)]) {
      const Edge& edge = p.edges[at(e)];
      room = std::min(room, s.start[at(edge.to)] + s.period * edge.distance - s.start[at(*t)] - edge.span);
    }
    s.start[at(*t)] += room / s.period * s.period;
  }
}

}  // namespace

PeriodBound period_bound(const Problem& p) {
  PeriodBound out{1, "load", -1};
  std::vector<std::int64_t> load(at(p.resources), 0);
  for (const Task& t : p.tasks)
    for (int r : t.resources) load[at(r)] += t.time;
  for (int r = 0; r < p.resources; ++r)
    if (load[at(r)] > out.period) out = {load[at(r)], "load", r / std::max(1, p.resources / p.devices)};
  for (int d = 0; d < p.devices; ++d) {
    if (!p.memory[at(d)] || p.on_device[at(d)].empty() || *p.memory[at(d)] <= 0) continue;
    const std::optional<std::int64_t> area = least_area(p, d);
    if (!area) continue;
    const std::int64_t period = ceil_div(*area, *p.memory[at(d)]);
    if (period > out.period) out = {period, "memory", d};
  }
  const bool cyclic = std::any_of(p.edges.begin(), p.edges.end(), [](const Edge& e) { return e.distance != 0; });
  if (cyclic)
    if (const std::int64_t period = recurrence_bound(p, out.period); period > out.period)
      out = {period, "recurrence", -1};
  return out;
}

std::int64_t steady_memory(const Problem& p, const Pattern& s, int device) {
  std::int64_t most = 0;
  for (int taker : p.on_device[at(device)]) {
    if (p.tasks[at(taker)].memory <= 0) continue;
    const std::int64_t moment = s.start[at(taker)];
    std::int64_t held = 0;
    for (int t : p.on_device[at(device)]) {
      const Task& task = p.tasks[at(t)];
      const std::int64_t when = s.start[at(t)] + (task.memory < 0 ? task.time : 0);
      held += task.memory * (floor_div(moment - when, s.period) + 1);  // rounds that have taken or given back by now
    }
    most = std::max(most, held);
  }
  return most;
}

std::int64_t length(const Problem& p, const Pattern& s) {
  std::int64_t out = 0;
  for (std::size_t t = 0; t < p.tasks.size(); ++t) out = std::max(out, s.start[t] + p.tasks[t].time);
  return out;
}

std::optional<std::string> violation(const Problem& p, const Pattern& s) {
  if (s.period <= 0 || s.start.size() != p.tasks.size()) return "there is no pattern";
  for (const Edge& e : p.edges)
    if (s.start[at(e.to)] + s.period * e.distance < s.start[at(e.from)] + e.span)
      return "task " + std::to_string(e.to) + " starts before task " + std::to_string(e.from) + " is done";
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> taken(at(p.resources));
  for (std::size_t t = 0; t < p.tasks.size(); ++t)
    if (p.tasks[t].time > 0)
      for (int r : p.tasks[t].resources) taken[at(r)].emplace_back(mod(s.start[t], s.period), p.tasks[t].time);
  for (int r = 0; r < p.resources; ++r) {
    auto& list = taken[at(r)];
    std::sort(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool last = i + 1 == list.size();
      const std::int64_t next = last ? list[0].first + s.period : list[i + 1].first;
      if (list[i].first + list[i].second > next) return "two tasks overlap on resource " + std::to_string(r);
    }
  }
  for (int d = 0; d < p.devices; ++d)
    if (p.memory[at(d)] && steady_memory(p, s, d) > *p.memory[at(d)])
      return "device " + std::to_string(d) + " holds more than its memory";
  return std::nullopt;
}

std::optional<Pattern> pattern_at(const Problem& p, std::int64_t period, const std::vector<std::int64_t>& offset) {
  Pattern out{period, offset};
  const auto raise = [&](const Edge& e) {
    const std::int64_t least = out.start[at(e.from)] + e.span - period * e.distance;
    std::int64_t& start = out.start[at(e.to)];
    if (start >= least) return false;
    start += ceil_div(least - start, period) * period;
    return true;
  };
  for (int t : p.topological)
    for (int e : p.out_of[at(t)]) raise(p.edges[at(e)]);
  for (std::size_t round = 0; round <= p.tasks.size(); ++round) {
    bool changed = false;
    for (const Edge& e : p.edges) changed |= raise(e);
    if (changed) continue;
    delay_takers(p, out);
    const std::int64_t least = *std::min_element(out.start.begin(), out.start.end());
    for (std::int64_t& start : out.start) start -= floor_div(least, period) * period;
    return out;
  }
  return std::nullopt;
}

}  // namespace planscope::schedule
