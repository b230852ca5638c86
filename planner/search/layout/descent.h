#pragma once
// Choices by descent: each node in turn takes the strategy that is best for it as the others are, until none changes.
// For networks whose elimination is not exact; nothing is said about how good the result is.
#include "planner/search/layout/prices.h"

namespace planscope::layouts {

class Descent {
 public:
  Descent(const CostNetwork&, const Locks&);
  // Lowers cost + prices * memory; `keep`: cost alone, and only among choices that keep the limits, as `start` does.
  Choice from(Choice start, const std::vector<double>& prices, bool keep, const Ended&) const;

 private:
  double cost_at(int node, int strategy, const Choice&) const;
  const CostNetwork& n_;
  std::vector<std::vector<int>> allowed_, edges_;  // [node]
};

// The best of descents from `starts` and from what the elimination gives at rising prices; nothing where none keeps the
// limits.
std::optional<Choice> descend(const CostNetwork&, const Locks&, const Elimination&, const Messages&,
                              const std::vector<Choice>& starts, const Ended&);

}  // namespace planscope::layouts
