#pragma once
// The choice of layouts: the cheapest choice of a cost network that keeps its memory limits, with a lower bound that
// anyone can recheck.
//
//   elimination   exact min-plus elimination of the nodes, equal messages counted once           (elimination.h)
//   prices        memory by Lagrangian prices: the best lower bound of this form, its certificate (prices.h, certificate.h)
//   choice        labels of cost and memory near the best prices, coarse first, then around the best so far (frontier.h)
// Networks whose tables would be too large: the messages are then bounds (mini-buckets), choices come by descent and
// annealing (descent.h, anneal.h), and `method` says so.
//
// The answer is one of three:
//   found       a choice that keeps limits and locks, its cost, and a lower bound. `optimal` is said where the bound
//               meets the cost (but for rounding), or where the search for something better was complete; the bound is
//               then the cost. It is relative to the network and the locks.
//   impossible  no choice keeps the limits; `least_memory` is the least that each row needs by itself. Where weighted memory
//               does not prove it (`impossibility`), all choices were looked at.
//   unknown     several memory rows, and no choice that keeps them all was found; or a limit ended it too early. The bound
//               is still one; cost and gap mean nothing.
// Unless a limit ends it, a network with at most 20,000 choices is always decided: `optimal`, or impossible; so is one
// without memory rows whose elimination is exact.
//
//   Solver solver(network);                       // the network: without faults (network.h)
//   Answer a = solver.solve({});
//   Answer b = solver.solve({{7, {2}}});          // node 7 takes strategy 2; only what depends on it is done again
//   if (b.certificate) check(network, locks, *b.certificate);
//
// Deterministic, unless a limit ends it. The state that makes the second call cheap is the elimination inside `Solver`, and
// the last choice, from which the search begins; bounds are the same as those of a new one, and costs where both are optimal.
#include <optional>
#include <string>

#include "planner/search/layout/prices.h"

namespace planscope::layouts {

enum class Outcome : std::uint8_t { found, impossible, unknown };
std::string_view to_string(Outcome);

struct SolveOptions {
  EliminationOptions elimination;
  double tolerance = 1e-5;  // relative gap at which it ends
  double work = 1e5;        // pairs of labels, of the search for a better choice
  // The first solve() takes a 64th of so many pairs a node beside these, and up to all of them where its (relative) gap is wider
  // than `wide`, or than one and a half average nodes cost, but `wide_of_few` at most.
  double work_of_node = 2500;
  double wide = 1e-3, wide_of_few = 3e-3;
  double changes = 2e7;  // of strategies, that annealing tries where the elimination is not exact
  Ended ended = [] { return false; };
};

struct Answer {
  Outcome outcome = Outcome::unknown;
  Choice choice;  // found
  double cost = 0;
  std::vector<std::int64_t> memory;  // [row]
  double lower_bound = 0;            // of any choice that keeps limits and locks
  bool optimal = false;
  double gap() const;  // (cost - bound) / |cost|; 0 where optimal; infinite where only the cost is 0
  std::string method;
  std::vector<double> prices;
  std::optional<Certificate> certificate;      // of the part of the bound that prices give; not if impossible
  std::optional<Impossibility> impossibility;  // impossible, if weights prove it
  std::vector<std::int64_t> least_memory;      // [row]
  int distinct_messages = 0, steps = 0;
  bool ended = false;  // by `SolveOptions::ended`
};

class Solver {
 public:
  explicit Solver(CostNetwork, SolveOptions = {});
  Answer solve(const Locks&);
  const CostNetwork& network() const { return network_; }

 private:
  void search(const Locks&, const Priced&, const MemoryQuestion&, Answer&) const;
  CostNetwork network_;
  SolveOptions options_;
  Elimination elimination_;
  Choice last_;  // of the last solve() that found one
};

}  // namespace planscope::layouts
