#include "planner/search/layout/prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/search/layout/master.h"

namespace planscope::layouts {

namespace {

constexpr int most_evaluations = 400;
constexpr double rounding = 1e-14;  // relative: by more than this a bound must be higher to be taken for it

Choice least_weighted(const CostNetwork& n, const Locks& locks, const std::vector<double>& weights) {
  Choice choice(n.nodes.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const Kind& kind = n.kind(static_cast<int>(i));
    double least = std::numeric_limits<double>::infinity(), cost = 0;
    for (const int s : allowed_strategies(n, locks, static_cast<int>(i))) {
      double weighted = 0;
      for (std::size_t r = 0; r < weights.size(); ++r) weighted += weights[r] * static_cast<double>(kind.memory[r][s]);
      if (weighted > least || (weighted == least && kind.cost[s] >= cost)) continue;
      least = weighted;
      cost = kind.cost[s];
      choice[i] = s;
    }
  }
  return choice;
}

MasterColumn column(const CostNetwork& n, double cost, const std::vector<double>& memory) {
  MasterColumn c{cost, {}};
  for (int r = 0; r < n.rows(); ++r) c.excess.push_back(memory[r] - static_cast<double>(n.limits[r]));
  return c;
}

MasterColumn column(const CostNetwork& n, double cost, const std::vector<std::int64_t>& memory) {
  return column(n, cost, std::vector<double>(memory.begin(), memory.end()));
}

double weighted_excess(const MasterColumn& c, const std::vector<double>& prices) {
  double sum = c.cost;
  for (std::size_t r = 0; r < prices.size(); ++r) sum += prices[r] * c.excess[r];
  return sum;
}

double cost_range(const CostNetwork& n) {
  double range = 0;
  for (const int k : n.nodes) {
    const auto [low, high] = std::minmax_element(n.kinds[k].cost.begin(), n.kinds[k].cost.end());
    range += *high - *low;
  }
  for (const Edge& e : n.edges) {
    const auto [low, high] = std::minmax_element(n.pairs[e.pair].values.begin(), n.pairs[e.pair].values.end());
    range += *high - *low;
  }
  return range > 0 ? range : 1;
}

bool keeps(const CostNetwork& n, const std::vector<double>& memory) {
  for (int r = 0; r < n.rows(); ++r)
    if (memory[r] > static_cast<double>(n.limits[r])) return false;
  return true;
}

}  // namespace

std::vector<std::int64_t> least_memory(const CostNetwork& n, const Locks& locks) {
  std::vector<std::int64_t> least;
  for (int r = 0; r < n.rows(); ++r) {
    std::vector<double> weights(n.rows());
    weights[r] = 1;
    least.push_back(memory_of(n, least_weighted(n, locks, weights))[r]);
  }
  return least;
}

MemoryQuestion can_memory_be_kept(const CostNetwork& n, const Locks& locks) {
  MemoryQuestion q;
  std::vector<MasterColumn> columns;
  const auto look = [&](const std::vector<double>& weights) {
    q.choices.push_back(least_weighted(n, locks, weights));
    columns.push_back(column(n, 0, memory_of(n, q.choices.back())));
    const Impossibility proof{weights};
    if (weighted_excess(columns.back(), weights) > 0 && check(n, locks, proof).ok) q.impossible = proof;
  };
  for (int r = 0; r < n.rows() && !q.impossible; ++r) {
    std::vector<double> weights(n.rows());
    weights[r] = 1;
    look(weights);
  }
  for (int k = 0; n.rows() > 1 && !q.impossible && k < most_evaluations; ++k) {
    const MasterAnswer a = solve_master(columns, n.rows(), 1);
    if (!(a.value > 0)) break;
    look(a.prices);
    if (weighted_excess(columns.back(), a.prices) <= 0) break;
  }
  return q;
}

Priced best_prices(const CostNetwork& n, const Elimination& e, const std::vector<Choice>& seen, const Ended& ended) {
  Priced best;
  best.bound = -std::numeric_limits<double>::infinity();
  std::vector<MasterColumn> columns;
  for (const Choice& c : seen) columns.push_back(column(n, cost_of(n, c), memory_of(n, c)));
  const double cap = 1e3 * cost_range(n);  // of a price per unit of memory: no unit is worth more than all costs
  std::vector<double> prices(n.rows());
  double reached = std::numeric_limits<double>::infinity(), sure = -reached;
  for (; best.evaluations < most_evaluations && !best.ended; best.ended = ended()) {
    Messages m = evaluate(n, e, prices);
    ++best.evaluations;
    columns.push_back(column(n, m.cost, m.memory));
    double value = m.value, size = std::abs(m.value);
    for (int r = 0; r < n.rows(); ++r) {
      value -= prices[r] * static_cast<double>(n.limits[r]);
      size += prices[r] * static_cast<double>(n.limits[r]);
    }
    if (e.exact() && keeps(n, m.memory) && (!best.keeping || m.cost < best.keeping->cost)) best.keeping = m;
    best.bound = std::max(best.bound, value);
    if (best.evaluations == 1 || value - rounding * size > sure) {
      sure = value - rounding * size;
      best.messages = std::move(m);
    }
    if (n.rows() == 0 || best.bound >= reached - 100 * rounding * size) break;
    const MasterAnswer next = solve_master(columns, n.rows(), cap);
    if (next.prices == prices) break;
    reached = next.value;
    prices = next.prices;
  }
  return best;
}

}  // namespace planscope::layouts
