#pragma once
// The messages of an elimination at given prices of memory: per entry the least value, what the minimizing choice below
// costs and needs (a subgradient), and the strategy that the eliminated node takes there. Only distinct messages are
// computed.
#include "planner/search/layout/elimination.h"

namespace planscope::layouts {

struct Table {
  std::vector<double> value, cost;  // [entry]
  std::vector<double> memory;       // [entry * rows + row]
  std::vector<int> choice;          // [entry]; strategies of the eliminated node
  std::vector<double> share;        // [index into allowed]: what a share counts of cost and priced memory
  std::vector<double> share_cost;   // the part of it that no memory is in
};

struct Messages {
  std::vector<double> prices;
  std::vector<Table> tables;  // [recipe]; empty where not in use
  double value = 0;           // of the root: least cost + prices * memory
  double cost = 0;            // of a choice that has it; where nodes are shared, of copies
  std::vector<double> memory;
};

Messages evaluate(const CostNetwork&, const Elimination&, const std::vector<double>& prices);

// The choice behind `value`. Where nodes are shared, each takes what is best for all its shares, the rest decided.
Choice decode(const CostNetwork&, const Elimination&, const Messages&);

// The bound of these prices with messages rounded down, so that it holds in spite of rounding.
Certificate certify(const CostNetwork&, const Elimination&, const Messages&);

// Cost and priced memory of a strategy.
double priced(const Kind&, int strategy, const std::vector<double>& prices);

// Calls f(entry, offsets) for each entry of a recipe's scope; offsets[p] is where part p is read, at node strategy 0.
template <class F>
void for_each_entry(const Recipe& recipe, const Shape& shape, F f) {
  const int axes = static_cast<int>(recipe.sizes.size()), parts = static_cast<int>(recipe.parts.size());
  std::vector<int> digits(axes), offsets(parts);
  for (int entry = 0;; ++entry) {
    f(entry, offsets.data());
    int a = axes - 1;
    for (; a >= 0; --a) {
      if (++digits[a] < recipe.sizes[a]) {
        for (int p = 0; p < parts; ++p) offsets[p] += shape.stride(p, a);
        break;
      }
      digits[a] = 0;
      for (int p = 0; p < parts; ++p) offsets[p] -= (recipe.sizes[a] - 1) * shape.stride(p, a);
    }
    if (a < 0) return;
  }
}

}  // namespace planscope::layouts
