#pragma once
// What two plans do differently, decision by decision, and what each difference costs.
//
// A change is a set of operators (or parameters) for which the same decisions differ in the same way: what they split over an
// axis, their place, what waits for backward. Its cost is that of their own instructions (cost_shares.h): time at work on one
// device, the mean over all of them, and what is alive of theirs at the peak. A parameter counts with the first operator that
// reads it, unless its own decisions differ. Differences of the whole (devices, axes, sizes, order) are changes without
// operators and without a cost of their own.
//
// What changes do not hold is `rest`; with it, parts sum to the difference of the steps and of the peaks:
//   operators   of operators that do the same in both plans (what they read comes otherwise, sizes differ, …)
//   idle        devices wait for each other
//   overlap     communication and host copies that compute hides, or no longer hides
//
//   PlanDifference d = difference(graph, base, other);
//   for (const PlanChange& c : d.changes) c.operators, c.decisions, c.delta_us
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/cost_shares.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

struct DecisionChange {
  std::string about;    // an axis; `update by data`; `place`, `backward`; `devices`, `batch`, `order`, …
  std::string was, is;  // `none`, `out`, `pipe=0; pipe=1`; empty where one plan has no such thing
  std::optional<StatementRef> was_line, is_line;  // that decide it; nothing: it follows
  bool operator==(const DecisionChange&) const = default;
};

struct PlanChange {
  std::vector<std::string>
      operators;           // selections, or names of parameters, with numbers folded; none: of the whole plan
  std::int64_t count = 0;  // of operators or parameters
  bool parameters = false;
  std::vector<int> rows;  // of the graph: the operators, or the parameters; ascending
  std::vector<DecisionChange> decisions;
  Share delta;
};

struct RestOfChange {
  Share operators;
  double idle_us = 0, overlap_us = 0;
  double us() const { return operators.us() + idle_us + overlap_us; }
};

struct PlanDifference {
  double delta_us = 0;
  std::int64_t delta_bytes = 0;
  std::vector<PlanChange> changes;  // the dearest (either way) first, those of the whole plan before all
  RestOfChange rest;
};

struct ComparedPlan {
  const plan::Plan& plan;  // as written
  const Evaluation& judged;    // with what is alive at its peak
  const Cluster& cluster;      // that it was judged on
};

// Both plans are of one model.
PlanDifference difference(const Graph&, const ComparedPlan& base, const ComparedPlan& other);


}  // namespace planscope
