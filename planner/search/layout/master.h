#pragma once
// The master problem of cutting planes: the prices at which the solutions seen so far are worth most,
//   maximize  t   subject to   t <= cost_k + prices * excess_k  for each solution k,   0 <= prices <= cap
// excess: memory less limit, per row. Solved as its dual, a linear program with one row per price and one for the weights
// of the solutions, by the simplex method with a dense basis; there are few prices, so it is inverted anew each time.
// With one price this is the crossing of two supporting lines. Largest improvement first, Bland's rule if it dwells.
#include <vector>

namespace planscope::layouts {

struct MasterColumn {
  double cost = 0;
  std::vector<double> excess;  // [row]
};

struct MasterAnswer {
  std::vector<double> prices;
  double value = 0;  // t
};

// At least one column.
MasterAnswer solve_master(const std::vector<MasterColumn>& columns, int rows, double cap);

}  // namespace planscope::layouts
