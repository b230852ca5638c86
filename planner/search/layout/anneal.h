#pragma once
// Choices by simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983): one node at a time takes another strategy, dearer ones
// with a chance that falls from the begin of a run to its end. Memory beyond a limit is allowed at a price, which rises as
// long as it is beyond and falls as long as it is not, so that choices are near the limit from either side. For networks
// whose elimination is not exact; nothing is said about how good the result is.
#include <functional>

#include "planner/search/layout/prices.h"

namespace planscope::layouts {

// Some runs, of `changes` in all; several in vain are the last. `offer` gets a choice that keeps the limits, and says whether
// it is the best so far. `prices`: of a unit of memory, to begin with (0: not known). `start` and all that is offered keep the locks. Deterministic, unless `ended` ends it.
//
//   anneal(network, locks, prices, descended, 2e7, [&](const Choice& c) { return keep_if_better(c); }, ended);
void anneal(const CostNetwork&, const Locks&, const std::vector<double>& prices, Choice start, double changes,
            const std::function<bool(const Choice&)>& offer, const Ended&);

}  // namespace planscope::layouts
