#pragma once
// The splits of every operator of a Graph over the axes of a grid, so that a step takes least time and fits in memory: as
// lines of a plan, with what they cost and a bound from below. With them, if asked for: how far ZeRO splits what belongs to
// parameters, which layers are computed again in backward, and which wait in host memory.
//
// Strategies are all legal splits (strategies.h): any factor on any axis, several axes at once; ZeRO by operator; what waits
// for backward by layer (storage.h). Costs are work at the local shapes, the cheapest conversions of values and gradients
// (the communication search's own), reductions of parameters' gradients and updates once a step, what is computed and
// converted again, copies from host memory. The choice is exact on this network (planner/search/layout) or says how far it
// can be from the optimum.
//
// The memory row: parameters with gradients and optimizer state, and what waits for backward, each result once, as it is
// written. What a device needs beside while it works (working sets, gathered copies, the layer that is computed again) is no
// sum. So the plan is simulated: where its peak is above the limit, the row is lowered by the difference and solved again,
// where nothing fits with small units of recomputation alone, then with operators whose results are small, and the fastest plan
// that fits is taken. That is a heuristic: near the least memory that there is, the plan can be some percent slower than the
// best that fits, or none may be found (tests/planner/search/splits). The bound is of the row at the limit itself: it holds
// for every plan of the network that fits.
//
// Several axes: operators have the product of their ways over the axes; where these are very many (of all kinds together more
// than a million pairs), 24 (cut_kinds says of how many kinds some were left out, the dearest by themselves), and layers fewer
// words. Where the network is then too large for exact elimination, `method` says so; choices in which one axis splits the
// batch are looked for beside.
//
// The bound is of the network's cost: a sum of times, as if nothing ran beside anything else. Not in the network:
//   - what hides behind what: reductions of parameters' gradients mostly do, so a step is shorter than its cost; copies to
//     host memory are taken to, those back are not
//   - more than three ways of reading one tensor, additions of gradient contributions, operators that no parameter reaches,
//     gathering of integers that tell rows of experts apart
//   - splits over axes that run in turn, `keys` of attention, stages; units of recomputation other than storage.h lists
//
//   Result<GraphLayout> l = choose_layouts(graph, cluster, {.axes = {{"tensor", 8}}, .micro_batches = 16});
//   for (const std::string& line : l->statements) …
//
//   Result<Chooser> c = Chooser::make(graph, cluster, spec);     // many choices of one network: rows are locks
//   c->choose("trans model.layers[*].mlp.up_proj out by tensor");
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/layout/solve.h"
#include "planner/search/splits/space.h"
#include "planner/search/splits/storage.h"

namespace planscope::splits {

struct LayoutSpec {
  std::vector<AxisSize> axes;              // of the grid, major to minor
  std::int64_t micro_batches = 1;          // of a step: gradient reductions and updates count that much less
  std::int64_t memory_limit = 0;           // bytes of a device; 0: none
  std::int64_t optimizer_state_bytes = 8;  // by element
  std::vector<std::string> zero = {};      // axes over which ZeRO may split what belongs to parameters
  StorageSpec storage = {};                // layers that may be computed again, or wait in host memory
  std::int64_t under_way = 1;              // micro-batches whose results wait for backward at a time
  std::string batch = "batch";             // the input dimension that micro-batches split
  CostModel costs = {};
  bool simulated = false;  // the plan is played; with a memory limit, until its peak keeps it
  std::function<bool()> ended = [] { return false; };      // what is found by then is the answer
  std::function<bool()> abandoned = [] { return false; };  // none is of use any more, and none comes: an error
};

struct GraphLayout {
  std::vector<std::string> statements;  // `trans … by tensor`
  std::string plan;                     // with devices and micro-batches: what is played
  double cost_us = 0;                   // of a micro-batch, with its share of what is done once a step
  double lower_bound_us = 0;            // of any choice of the network
  bool optimal = false;                 // no choice of any strategies costs less: none where some were cut (cut_kinds)
  std::int64_t bytes = 0;               // of the memory row; 0 without a limit
  double step_us = 0;                   // LayoutSpec::simulated: of all micro-batches
  std::int64_t peak_bytes = 0;
  bool fits = true;  // the peak keeps the limit
  int times_played = 0;
  std::string method;
  int operators = 0, operator_kinds = 0, strategies = 0;  // strategies: of all kinds
  int nodes = 0, edges = 0, pair_kinds = 0;
  int cut_kinds = 0;  // kinds of operators with more strategies than are looked at: the bound is of those that are
  double network_seconds = 0, solve_seconds = 0, statement_seconds = 0, play_seconds = 0;
};

// The network of a graph, and what has been solved of it.
class Chooser {
 public:
  // The graph at the sizes of one micro-batch. Errors: an axis without devices, more devices than the cluster has; ZeRO over
  // what is no axis.
  static Result<Chooser> make(const Graph&, const Cluster&, const LayoutSpec&);
  Chooser(Chooser&&) noexcept;
  Chooser& operator=(Chooser&&) noexcept;
  ~Chooser();

  // `rows`: lines of a plan. What they state of splits, `recompute`, `offload`, `keep`, `update`, `grad` and `fetch` is kept
  // (a fixed word, one of alternatives, none that is forbidden; of `update`, `grad` and `fetch` none that ZeRO would add, what
  // readers split of them is not looked at) and comes before the statements. Errors: those of the rows; a
  // row that no strategy keeps; a choice that no statements give (a fault: it says which operator binds otherwise).
  Result<GraphLayout> choose(const std::string& rows = "");

  // Where the last choose() found nothing because no choice keeps the limit, or the time was over: which of them.
  std::optional<layouts::Outcome> none() const;

  // What choose() would choose, without the time that statements and playing take: both are empty.
  Result<GraphLayout> cheapest();

  // What the network says of a plan: `lines` as of GraphLayout. Errors: those of the lines; an operator that does what is no
  // strategy here.
  Result<double> cost_of(const std::string& lines);

 private:
  struct State;
  explicit Chooser(std::unique_ptr<State>);
  std::unique_ptr<State> state_;
};

Result<GraphLayout> choose_layouts(const Graph&, const Cluster&, const LayoutSpec&, const std::string& rows = "");
Result<double> cost_of_lines(const Graph&, const Cluster&, const LayoutSpec&, const std::string& lines);

// `devices 8 as tensor=8` for these axes.
std::string devices_line(const std::vector<AxisSize>&);

}  // namespace planscope::splits
