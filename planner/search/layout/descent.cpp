#include "planner/search/layout/descent.h"

#include <limits>

namespace planscope::layouts {

namespace {

constexpr int most_sweeps = 50;
constexpr int price_rises = 24;

}  // namespace

Descent::Descent(const CostNetwork& n, const Locks& locks) : n_(n), edges_(n.nodes.size()) {
  for (std::size_t v = 0; v < n.nodes.size(); ++v)
    allowed_.push_back(allowed_strategies(n, locks, static_cast<int>(v)));
  for (std::size_t e = 0; e < n.edges.size(); ++e) {
    edges_[n.edges[e].from].push_back(static_cast<int>(e));
    edges_[n.edges[e].to].push_back(static_cast<int>(e));
  }
}

double Descent::cost_at(int node, int strategy, const Choice& choice) const {
  double cost = n_.kind(node).cost[strategy];
  for (const int e : edges_[node]) {
    const Edge& edge = n_.edges[e];
    cost += edge.from == node ? n_.pairs[edge.pair].at(strategy, choice[edge.to])
                              : n_.pairs[edge.pair].at(choice[edge.from], strategy);
  }
  return cost;
}

Choice Descent::from(Choice choice, const std::vector<double>& prices, bool keep, const Ended& ended) const {
  std::vector<std::int64_t> memory = memory_of(n_, choice);
  const auto changed = [&](int node, int strategy) {
    std::vector<std::int64_t> out = memory;
    const auto& rows = n_.kind(node).memory;
    for (int r = 0; r < n_.rows(); ++r) out[r] += rows[r][strategy] - rows[r][choice[node]];
    return out;
  };
  const auto value = [&](int node, int strategy) {
    double sum = cost_at(node, strategy, choice);
    for (int r = 0; r < n_.rows() && !keep; ++r)
      sum += prices[r] * static_cast<double>(n_.kind(node).memory[r][strategy]);
    return sum;
  };
  bool moved = true;
  for (int sweep = 0; sweep < most_sweeps && moved && !ended(); ++sweep) {
    moved = false;
    for (int v = 0; v < static_cast<int>(choice.size()); ++v) {
      double least = value(v, choice[v]);
      int best = choice[v];
      for (const int s : allowed_[v]) {
        const double there = value(v, s);
        if (there >= least || (keep && !fits(n_, changed(v, s)))) continue;
        least = there;
        best = s;
      }
      if (best == choice[v]) continue;
      memory = changed(v, best);
      choice[v] = best;
      moved = true;
    }
  }
  return choice;
}

std::optional<Choice> descend(const CostNetwork& n, const Locks& locks, const Elimination& e, const Messages& m,
                              const std::vector<Choice>& starts, const Ended& ended) {
  const Descent descent(n, locks);
  std::optional<Choice> best;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Choice& choice) {
    if (!fits(n, memory_of(n, choice))) return false;
    Choice better = descent.from(choice, {}, true, ended);
    const double cost = cost_of(n, better);
    if (cost < least) {
      least = cost;
      best = std::move(better);
    }
    return true;
  };
  for (const Choice& start : starts) offer(start);
  std::vector<double> prices = m.prices;
  for (int k = 0; k < price_rises && !ended(); ++k) {
    const Messages there = k == 0 ? m : evaluate(n, e, prices);
    const Choice raw = decode(n, e, there);
    const bool kept = offer(raw), kept_lower = offer(descent.from(raw, prices, false, ended));
    if (kept && kept_lower) break;
    for (double& p : prices) p *= k < price_rises / 2 ? 1.05 : 1.5;
  }
  return best;
}

}  // namespace planscope::layouts
