#pragma once
// The splits of every operator of a Graph over the axes of a grid, so that one micro-batch takes least time: as lines of
// a plan, with what they cost and a bound from below.
//
// Strategies are all legal splits (strategies.h): any factor on any axis, several axes at once. Costs are work at the local
// shapes, the cheapest conversions of values and gradients (the communication search's own), reductions of parameters'
// gradients and updates once a step. The choice is exact on this network (planner/search/layout) and says how far it can be from
// the optimum.
//
// The bound is of the network's cost: a sum of times, as if nothing ran beside anything else. Not in the network:
//   - what hides behind what: reductions of parameters' gradients mostly do, so a step is shorter than its cost
//   - more than three ways of reading one tensor, additions of gradient contributions, operators that no parameter reaches,
//     gathering of integers that tell rows of experts apart
//   - memory, but as a row of parameters with gradients and optimizer state and what backward keeps, each result once
//   - splits over axes that run in turn, `keys` of attention, ZeRO, recomputation and offload
//
//   Result<GraphLayout> l = choose_layouts(graph, cluster, {.axes = {{"tensor", 8}}, .micro_batches = 16});
//   for (const std::string& line : l->statements) …
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/splits/space.h"

namespace planscope::splits {

struct LayoutSpec {
  std::vector<AxisSize> axes;              // of the grid, major to minor
  std::int64_t micro_batches = 1;          // of a step: gradient reductions and updates count that much less
  std::int64_t memory_limit = 0;           // bytes of a device; 0: none
  std::int64_t optimizer_state_bytes = 8;  // by element
  CostModel costs = {};
  double below_us = 0;  // lines are written only for a lower cost; 0: always
  std::function<bool()> ended = [] { return false; };
};

struct GraphLayout {
  std::vector<std::string> statements;  // `trans … by tensor`
  bool written = false;                 // they are there (LayoutSpec::below_us)
  double cost_us = 0;
  double lower_bound_us = 0;  // of any choice of the network
  bool optimal = false;
  std::int64_t bytes = 0;  // of the memory row; 0 without a limit
  std::string method;
  int operators = 0, operator_kinds = 0, strategies = 0;  // strategies: of all kinds
  int edges = 0, pair_kinds = 0;
  double network_seconds = 0, solve_seconds = 0, statement_seconds = 0;
};

// The graph at the sizes of one micro-batch. Errors: an axis without devices, more devices than the cluster has; a choice that
// no statements give (a fault: it says which operator binds otherwise).
Result<GraphLayout> choose_layouts(const Graph&, const Cluster&, const LayoutSpec&);

// What the same network says of a plan: `lines` as of GraphLayout. Errors: those of the lines; an operator that does what is no
// strategy here.
Result<double> cost_of_lines(const Graph&, const Cluster&, const LayoutSpec&, const std::string& lines);

// `devices 8 as tensor=8` for these axes.
std::string devices_line(const std::vector<AxisSize>&);

}  // namespace planscope::splits
