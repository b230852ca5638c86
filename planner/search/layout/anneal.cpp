#include "planner/search/layout/anneal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

namespace planscope::layouts {

namespace {

constexpr int kLooks = 1000;       // random changes that tell how much one usually costs
constexpr double kColdest = 1e-2;  // of the first temperature
constexpr int kStair = 1000;       // changes at one temperature; then what is there is looked at
constexpr double kDearer = 1.02,
                 kCheaper = 0.99;  // a row's price, where memory is beyond its limit, and where it is not
constexpr int kRuns = 6, kInVain = 3;

class Annealing {
 public:
  Annealing(const CostNetwork& n, const Locks& locks, std::vector<double> prices)
      : n_(n), neighbours_(n.nodes.size()), prices_(std::move(prices)) {
    for (int v = 0; v < static_cast<int>(n.nodes.size()); ++v) {
      allowed_.push_back(allowed_strategies(n, locks, v));
      if (allowed_.back().size() > 1) free_.push_back(v);
    }
    for (const Edge& e : n.edges) {
      const Matrix& m = n.pairs[e.pair];
      neighbours_[e.from].push_back({e.to, m.values.data(), m.columns, 1});
      neighbours_[e.to].push_back({e.from, m.values.data(), 1, m.columns});
    }
  }

  // The cheapest choice that keeps the limits of those that were looked at; nothing: none does.
  std::optional<Choice> run(const Choice& start, double changes, const Ended& ended) {
    if (free_.empty()) return std::nullopt;
    choice_ = start;
    memory_ = memory_of(n_, choice_);
    const double hottest = usual_rise(), stairs = std::max(1.0, changes / kStair);
    beyond_ = excess_price(memory_);
    cost_ = cost_of(n_, choice_);
    std::optional<Choice> best;
    double least = std::numeric_limits<double>::infinity();
    for (int stair = 0; stair < stairs && !ended(); ++stair) {
      const double temperature = hottest * std::pow(kColdest, stair / stairs);
      for (int k = 0; k < kStair; ++k) change(temperature);
      for (int r = 0; r < n_.rows(); ++r) prices_[r] *= memory_[r] > n_.limits[r] ? kDearer : kCheaper;
      beyond_ = excess_price(memory_);
      if (cost_ >= least || !fits(n_, memory_)) continue;
      least = cost_;
      best = choice_;
    }
    return best;
  }

 private:
  struct Neighbour {
    int node;
    const double* values;  // of the pair
    int own, other;        // strides
  };

  double cost_at(int node, int strategy) const {
    double sum = n_.kind(node).cost[strategy];
    for (const Neighbour& x : neighbours_[node]) sum += x.values[strategy * x.own + choice_[x.node] * x.other];
    return sum;
  }

  double excess_price(const std::vector<std::int64_t>& memory) const {
    double sum = 0;
    for (int r = 0; r < n_.rows(); ++r)
      sum += prices_[r] * static_cast<double>(std::max<std::int64_t>(0, memory[r] - n_.limits[r]));
    return sum;
  }

  std::pair<int, int> some_change() {
    const int node = free_[random_() % free_.size()];
    return {node, allowed_[node][random_() % allowed_[node].size()]};
  }

  // What a change usually costs that makes a choice dearer: a low quantile, since what is forbidden is very dear. Rows
  // without a price get one at which a usual change of memory costs as much.
  double usual_rise() {
    std::vector<double> rises, moved(n_.rows());
    for (int k = 0; k < kLooks; ++k) {
      const auto [v, s] = some_change();
      const double rise = cost_at(v, s) - cost_at(v, choice_[v]);
      if (rise > 0) rises.push_back(rise);
      for (int r = 0; r < n_.rows(); ++r)
        moved[r] += std::abs(static_cast<double>(n_.kind(v).memory[r][s] - n_.kind(v).memory[r][choice_[v]])) / kLooks;
    }
    const auto quarter = rises.begin() + static_cast<std::ptrdiff_t>(rises.size() / 4);
    if (!rises.empty()) std::nth_element(rises.begin(), quarter, rises.end());
    const double usual = rises.empty() ? 1 : *quarter;
    for (int r = 0; r < n_.rows(); ++r)
      if (prices_[r] <= 0 && moved[r] > 0) prices_[r] = usual / moved[r];
    return usual;
  }

  void change(double temperature) {
    const auto [v, s] = some_change();
    if (s == choice_[v]) return;
    const double rise = cost_at(v, s) - cost_at(v, choice_[v]);
    changed_ = memory_;
    for (int r = 0; r < n_.rows(); ++r) changed_[r] += n_.kind(v).memory[r][s] - n_.kind(v).memory[r][choice_[v]];
    const double beyond = excess_price(changed_), dearer = rise + beyond - beyond_;
    if (dearer > 0 && chance_(random_) >= std::exp(-dearer / temperature)) return;
    choice_[v] = s;
    cost_ += rise;
    beyond_ = beyond;
    memory_.swap(changed_);
  }

  const CostNetwork& n_;
  std::vector<std::vector<int>> allowed_;           // [node]
  std::vector<std::vector<Neighbour>> neighbours_;  // [node]
  std::vector<int> free_;                           // nodes that have a choice
  std::vector<double> prices_;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> chance_{0, 1};
  Choice choice_;
  std::vector<std::int64_t> memory_, changed_;
  double cost_ = 0, beyond_ = 0;  // of what is beyond the limits
};

}  // namespace

void anneal(const CostNetwork& n, const Locks& locks, const std::vector<double>& prices, Choice start, double changes,
            const std::function<bool(const Choice&)>& offer, const Ended& ended) {
  Annealing annealing(n, locks, prices);
  int in_vain = 0;
  for (int run = 0; run < kRuns && in_vain < kInVain && !ended(); ++run) {
    const std::optional<Choice> found = annealing.run(start, changes / kRuns, ended);
    ++in_vain;
    if (!found || !offer(*found)) continue;
    start = *found;
    in_vain = 0;
  }
}

}  // namespace planscope::layouts
