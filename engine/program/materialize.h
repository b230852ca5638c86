#pragma once
// Graph + complete Plan -> Program: the only way in which a Program comes about.
//
// What it does, pass by pass (build.h holds the passes, one file each):
//   places      every operator gets a sub-grid: by `assign`, else that of its first user, else of its last producer
//   bindings    every operator binds factors to axes: by `trans`, else by *follow*: the factor that keeps its operands in
//               a layout in which they are held already; partial sums pass through linear operators; a backward sweep
//               lets operators with replicated operands take what their readers want
//   instances   operators that no parameter reaches are computed where and as they are read
//   segments    operators of one place, one set of free axes and one unit of an order row form a segment
//   emission    pieces, conversions (cheapest path), gradients with the dual layout, accumulation, fetch, grad, update
//   schedule    slots of every device class by order rows and list scheduling, folded into loops
//
// Errors: a plan that is not complete; places that do not fit; a free axis that would need all its indices at once where
// that cannot be had; an order with a cycle. The value is absent then.
//
//   Result<Materialized> m = materialize(graph, *parse_plan(text, "a.plan"), cluster);
//   print(m->program, *m->graph);
#include <memory>
#include <mutex>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/bind.h"
#include "engine/program/ordered.h"
#include "engine/program/program.h"

namespace planscope {

// A graph as the plan language sees it.
plan::ModelInfo model_info(const Graph&);
std::vector<plan::InputDimension> model_settings(const Graph&);  // what `model` sets: input dimensions, and the loss

struct PassTime {
  std::string pass;
  double seconds = 0;
};

// What does not depend on a plan but for the sizes that it sets. One cache serves any number of graphs, plans and edits;
// results are to the byte what they are without one. Any number of threads may ask at once.
class MaterializeCache {
 public:
  struct Sized {
    std::uint64_t base = 0;                                     // digest of the graph before
    std::vector<std::pair<std::string, std::int64_t>> changed;  // sizes that are others than those of `base`
    Graph graph;
    plan::ModelInfo info;
    std::vector<Diagnostic> diagnostics;  // of the change of sizes: no errors
  };
  // The graph at these sizes of input dimensions; that of one of the last calls where it is the same.
  Result<std::shared_ptr<const Sized>> at(const Graph& base, const plan::InputSizes&);

 private:
  struct Entry {
    std::uint64_t base = 0;
    std::vector<std::pair<std::string, std::int64_t>> changed;
    std::size_t operators = 0;
    std::once_flag once;
    Result<std::shared_ptr<const Sized>> made = {};
  };
  static constexpr std::size_t kKept = 4, kKeptOperators = 1 << 15;  // whichever is more
  std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> last_;  // latest first
};

// What a plan says, at the sizes that it sets: whether it is complete, what it requires.
struct Decided {
  std::shared_ptr<const MaterializeCache::Sized> sized;
  plan::Decisions decisions;
};
Result<Decided> decide(const Graph&, const plan::Plan&, const plan::OpenValues& = {},
                       MaterializeCache* cache = nullptr);

struct Materialized {
  std::shared_ptr<const Graph> graph;  // at the sizes that the plan sets
  plan::Decisions decisions;
  Program program;
  std::vector<OrderedRuns> ordered;  // what order rows put in order
  std::vector<PassTime> times;
};

Result<Materialized> materialize(const Graph&, const plan::Plan&, const Cluster&, const plan::OpenValues& = {},
                                 MaterializeCache* cache = nullptr);

// From what binding gave: nothing is bound twice.
Result<Materialized> materialize(Decided, const Cluster&);

// The last step alone: `graph` has the sizes of the decisions already.
Result<Program> materialize(const Graph& graph, const plan::Decisions&, const Cluster&,
                            std::vector<PassTime>* times = nullptr);

}  // namespace planscope
