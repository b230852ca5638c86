#pragma once
// One elimination order: the steps, without what they come to (elimination.h).
#include <optional>
#include <queue>

#include "planner/search/layout/elimination.h"

namespace planscope::layouts {

struct OrderOptions {
  int free = 0;              // neighbours that an eliminated node may have at no cost
  double largest_table = 0;  // entries, with the eliminated node
  bool shares = false;       // eliminate in shares where a table would be larger; else there is no order then
};

// Nothing where a table would be too large and shares are not wanted.
std::optional<Elimination> eliminate(const CostNetwork&, const OrderOptions&);

}  // namespace planscope::layouts
