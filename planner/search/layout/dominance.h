#pragma once
// A network without strategies that no cheapest choice needs: strategy s of a node goes if some other one, t, of the same
// node needs no more memory and is cheaper whatever the neighbours choose,
//
//   cost(s) - cost(t) + sum over edges of min over the neighbour's strategies x of [pair(s, x) - pair(t, x)] > 0
//
// (dead-end elimination: Desmet et al., Nature 356, 1992; this form: Goldstein, Biophysical Journal 66, 1994). Rounds go on
// until nothing goes any more, at most `kRounds`. Nothing is lost: least cost under the limits, and whether there is a choice
// at all, are as before. Nodes with equal surroundings are looked at once.
//
//   Reduced r = without_dominated(network, locks);
//   Choice c = r.original(Solver(r.network).solve({}).choice);
#include <functional>
#include <optional>
#include <vector>

#include "planner/search/layout/network.h"

namespace planscope::layouts {

struct Reduced {
  CostNetwork network;
  std::vector<std::vector<int>>
      left;  // by node of the reduced network, which are those of the whole: its strategies there
  Choice original(const Choice&) const;
  // The same locks here; nothing: a locked node has lost a strategy that it may take.
  std::optional<Locks> locks(const Locks&) const;
};

// Locked nodes have only the strategies that they may take. Ends soon once `ended` says so: fewer have gone then.
Reduced without_dominated(
    const CostNetwork&, const Locks& = {}, const std::function<bool()>& ended = [] { return false; });

}  // namespace planscope::layouts
