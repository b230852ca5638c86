#include "planner/search/schedule/retime.h"

#include <algorithm>
#include <tuple>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// `to` of round n + distance after `from` of round n, for the greatest number of rounds back that the pattern has it so.
void add_order(const Problem& p, const Pattern& s, int from, int to, std::int64_t span, std::vector<Edge>& out) {
  const std::int64_t end = s.start[at(from)] + span;
  // start[to] + period * d >= end: the least such d
  const auto distance = static_cast<int>(-floor_div(s.start[at(to)] - end, s.period));
  out.push_back({from, to, p.tasks[at(from)].time, distance});
}

std::vector<Edge> order_edges(const Problem& p, const Problem& coarse, const Pattern& s) {
  std::vector<Edge> out;
  std::vector<int> rank(p.tasks.size(), 0);
  for (std::size_t i = 0; i < p.topological.size(); ++i) rank[at(p.topological[i])] = static_cast<int>(i);
  for (int r = 0; r < p.resources; ++r) {
    std::vector<int> here;
    for (int t = 0; t < static_cast<int>(p.tasks.size()); ++t) {
      const auto& on = p.tasks[at(t)].resources;
      if (p.tasks[at(t)].time > 0 && std::find(on.begin(), on.end(), r) != on.end()) here.push_back(t);
    }
    // What takes no time in `coarse` comes first of those that start together.
    const auto turn = [&](int t) { return floor_div(s.start[at(t)], s.period); };
    const auto place = [&](int t) {
      return std::tuple(s.start[at(t)] - turn(t) * s.period, coarse.tasks[at(t)].time > 0, rank[at(t)]);
    };
    std::sort(here.begin(), here.end(), [&](int a, int b) { return place(a) < place(b); });
    for (std::size_t i = 0; i < here.size(); ++i) {
      const bool last = i + 1 == here.size();
      const int from = here[i], to = here[last ? 0 : i + 1];
      out.push_back({from, to, p.tasks[at(from)].time, static_cast<int>(turn(from) - turn(to)) + (last ? 1 : 0)});
    }
  }
  for (int d = 0; d < p.devices; ++d) {
    if (!p.memory[at(d)]) continue;
    for (int giver : p.on_device[at(d)])
      for (int taker : p.on_device[at(d)])
        if (p.tasks[at(giver)].memory < 0 && p.tasks[at(taker)].memory > 0)
          add_order(p, s, giver, taker, coarse.tasks[at(giver)].time, out);
  }
  return out;
}

}  // namespace

std::optional<Pattern> retimed(const Problem& p, const Problem& coarse, const Pattern& pattern) {
  std::vector<Edge> edges = order_edges(p, coarse, pattern);
  edges.insert(edges.end(), p.edges.begin(), p.edges.end());
  std::int64_t most = 1;
  for (const Edge& e : edges) most += e.span;
  const auto starts = [&](std::int64_t period) -> std::optional<std::vector<std::int64_t>> {
    std::vector<std::int64_t> start(p.tasks.size(), 0);
    for (std::size_t round = 0; round <= p.tasks.size(); ++round) {
      bool changed = false;
      for (const Edge& e : edges) {
        const std::int64_t least = start[at(e.from)] + e.span - period * e.distance;
        if (start[at(e.to)] >= least) continue;
        start[at(e.to)] = least;
        changed = true;
      }
      if (!changed) return start;
    }
    return std::nullopt;
  };
  std::int64_t no = 0, yes = most;
  if (!starts(yes)) return std::nullopt;
  while (yes - no > 1) {
    const std::int64_t middle = no + (yes - no) / 2;
    (starts(middle) ? yes : no) = middle;
  }
  Pattern out{yes, *starts(yes)};
  const std::int64_t least = *std::min_element(out.start.begin(), out.start.end());
  for (std::int64_t& s : out.start) s -= least;
  return out;
}

}  // namespace planscope::schedule
