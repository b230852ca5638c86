#include "planner/search/layout/dominance.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace planscope::layouts {
namespace {

constexpr int kRounds = 4;
constexpr double kClear = 1e-6;  // what rounding cannot be

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// An edge as one of its nodes sees it.
struct Side {
  int pair = 0;
  bool from = true;   // the node is the matrix' row
  int neighbour = 0;  // its set of strategies
  auto operator<=>(const Side&) const = default;
};

using Set = std::pair<int, std::vector<int>>;  // kind, and the strategies left of it

class Dominance {
 public:
  Dominance(const CostNetwork& n, const Locks& locks, const std::function<bool()>& ended)
      : n_(n), ended_(ended), sides_(n.nodes.size()) {
    for (int i = 0; i < static_cast<int>(n.nodes.size()); ++i)
      set_of_.push_back(number({n.nodes[at(i)], allowed_strategies(n, locks, i)}));
  }

  Reduced run() {
    for (int round = 0; round < kRounds && !ended_() && step();) ++round;
    return made();
  }

 private:
  int number(Set s) {
    const auto [known, fresh] = numbers_.emplace(std::move(s), static_cast<int>(sets_.size()));
    if (fresh) sets_.push_back(known->first);
    return known->second;
  }

  bool step() {
    for (auto& s : sides_) s.clear();
    for (const Edge& e : n_.edges) {
      sides_[at(e.from)].push_back({e.pair, true, set_of_[at(e.to)]});
      sides_[at(e.to)].push_back({e.pair, false, set_of_[at(e.from)]});
    }
    std::map<std::pair<int, std::vector<Side>>, int> known;
    std::vector<int> next(set_of_.size());
    for (std::size_t i = 0; i < set_of_.size(); ++i) {
      std::sort(sides_[i].begin(), sides_[i].end());
      const auto [found, fresh] = known.emplace(std::pair{set_of_[i], sides_[i]}, 0);
      if (fresh) found->second = number({n_.nodes[i], kept(set_of_[i], sides_[i])});
      next[i] = found->second;
    }
    const bool changed = next != set_of_;
    set_of_ = std::move(next);
    return changed;
  }

  // What is left of a set between such neighbours.
  std::vector<int> kept(int set, const std::vector<Side>& sides) const {
    const auto& [kind, all] = sets_[at(set)];
    std::vector<int> out = all;
    for (const int s : all) {
      if (ended_()) break;
      const bool dominated = std::any_of(out.begin(), out.end(), [&](int t) {
        return t != s && needs_no_more(n_.kinds[at(kind)], t, s) && is_dearer(n_.kinds[at(kind)], s, t, sides);
      });
      if (dominated) std::erase(out, s);
    }
    return out;
  }

  static bool needs_no_more(const Kind& k, int t, int s) {
    return std::all_of(k.memory.begin(), k.memory.end(), [&](const auto& row) { return row[at(t)] <= row[at(s)]; });
  }

  // s than t, whatever the neighbours do. First whether it is for one thing that they do: mostly it is not.
  bool is_dearer(const Kind& k, int s, int t, const std::vector<Side>& sides) const {
    const double own = k.cost[at(s)] - k.cost[at(t)];
    double once = own, always = own;
    for (const Side& e : sides) once += dearer_beside(e, s, t, sets_[at(e.neighbour)].second.front());
    if (once <= kClear) return false;
    for (const Side& e : sides) {
      double least = std::numeric_limits<double>::infinity();
      for (const int x : sets_[at(e.neighbour)].second) least = std::min(least, dearer_beside(e, s, t, x));
      always += least;
    }
    return always > kClear;
  }
  double dearer_beside(const Side& e, int s, int t, int other) const {
    const Matrix& m = n_.pairs[at(e.pair)];
    return e.from ? m.at(s, other) - m.at(t, other) : m.at(other, s) - m.at(other, t);
  }

  Reduced made() {
    Reduced out;
    out.network.limits = n_.limits;
    std::map<int, int> kinds;
    for (const int set : set_of_) {
      const auto& [kind, left] = sets_[at(set)];
      const auto [known, fresh] = kinds.emplace(set, static_cast<int>(out.network.kinds.size()));
      if (fresh) out.network.kinds.push_back(some(n_.kinds[at(kind)], left));
      out.network.nodes.push_back(known->second);
      out.left.push_back(left);
    }
    std::map<std::tuple<int, int, int>, int> pairs;
    for (const Edge& e : n_.edges) {
      const int rows = set_of_[at(e.from)], columns = set_of_[at(e.to)];
      const auto [known, fresh] = pairs.emplace(std::tuple{e.pair, rows, columns}, -1);
      if (fresh)
        known->second =
            add(out.network.pairs, some(n_.pairs[at(e.pair)], sets_[at(rows)].second, sets_[at(columns)].second));
      if (known->second >= 0) out.network.edges.push_back({e.from, e.to, known->second});
    }
    return out;
  }

  // Its number; -1: it costs nothing.
  static int add(std::vector<Matrix>& pairs, Matrix m) {
    if (std::all_of(m.values.begin(), m.values.end(), [](double v) { return v == 0; })) return -1;
    pairs.push_back(std::move(m));
    return static_cast<int>(pairs.size()) - 1;
  }

  static Kind some(const Kind& k, const std::vector<int>& left) {
    Kind out;
    for (const int s : left) out.cost.push_back(k.cost[at(s)]);
    for (const auto& row : k.memory) {
      out.memory.emplace_back();
      for (const int s : left) out.memory.back().push_back(row[at(s)]);
    }
    return out;
  }
  static Matrix some(const Matrix& m, const std::vector<int>& rows, const std::vector<int>& columns) {
    Matrix out{static_cast<int>(rows.size()), static_cast<int>(columns.size()), {}};
    for (const int r : rows)
      for (const int c : columns) out.values.push_back(m.at(r, c));
    return out;
  }

  const CostNetwork& n_;
  const std::function<bool()>& ended_;
  std::map<Set, int> numbers_;
  std::vector<Set> sets_;
  std::vector<int> set_of_;               // by node
  std::vector<std::vector<Side>> sides_;  // by node
};

}  // namespace

Choice Reduced::original(const Choice& c) const {
  Choice out;
  for (std::size_t i = 0; i < c.size(); ++i) out.push_back(left[i][at(c[i])]);
  return out;
}

std::optional<Locks> Reduced::locks(const Locks& all) const {
  Locks out;
  for (const auto& [node, allowed] : all)
    for (const int s : allowed) {
      const std::vector<int>& here = left[at(node)];
      const auto found = std::lower_bound(here.begin(), here.end(), s);
      if (found == here.end() || *found != s) return std::nullopt;
      out[node].push_back(static_cast<int>(found - here.begin()));
    }
  return out;
}

Reduced without_dominated(const CostNetwork& n, const Locks& locks, const std::function<bool()>& ended) {
  return Dominance(n, locks, ended).run();
}

}  // namespace planscope::layouts
