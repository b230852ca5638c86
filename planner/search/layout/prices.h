#pragma once
// The prices of memory at which the Lagrangian bound is highest, by cutting planes (Kelley 1960; column generation on its
// dual): evaluate, add the solution as a supporting plane, take the best prices of the planes seen (master.h), until the
// evaluation meets them. With one memory row these are the slopes of the lower hull of (memory, cost), and it ends after
// as many evaluations as there are breakpoints in the way, 5 to 15 in practice.
//
// Whether memory can be kept at all does not depend on edges: the least of a row is the sum over nodes of each node's
// least. With several rows, weights are sought by the same cutting planes such that the least weighted memory is above
// the weighted limits.
#include <functional>
#include <optional>

#include "planner/search/layout/messages.h"

namespace planscope::layouts {

using Ended = std::function<bool()>;  // true: stop soon; the best so far is returned

// Per row, the least memory that any choice under the locks needs.
std::vector<std::int64_t> least_memory(const CostNetwork&, const Locks&);

struct MemoryQuestion {
  std::optional<Impossibility> impossible;
  std::vector<Choice> choices;  // of least weighted memory at the weights tried; those of each row alone first
};
MemoryQuestion can_memory_be_kept(const CostNetwork&, const Locks&);

struct Priced {
  Messages messages;  // at the best prices
  double bound = 0;   // value - prices * limits
  // The evaluations whose choice keeps the limits, cheapest: exact eliminations only.
  std::optional<Messages> keeping;
  int evaluations = 0;
  bool ended = false;
};
Priced best_prices(const CostNetwork&, const Elimination&, const std::vector<Choice>& seen, const Ended&);

}  // namespace planscope::layouts
