#pragma once
// One tensor of a plan as people ask about it: how its writer cuts it over devices, how every reader wants it, and the
// moves between.
//
// Of a value, the writer is the operator that computes it, the load of an input, or the home of a parameter; a reader
// is whoever reads one vTensor of it (operators that read the same one are one reader). Of its gradient everything runs
// the other way: readers of the value contribute what their backward gives, and the writer's backward, or the update of
// the parameter, reads the sum. Moves always stand in the order in which they run; sums on each device (of
// contributions, or over a free axis) stand among them, as `add` and `accumulate`.
//
//   Result<TensorFacts> t = tensor_facts(evaluation, cluster, "model.layers.0.mlp.down_proj", {});
//   t->writers[0].tiling.tiles; t->readers[0].moves
//
// Errors: no tensor of that name.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/explain.h"
#include "app/workbench/tensor_tiles.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

struct TensorMove {
  ExplainedMove move;
  std::string segment;
  // of its time, in the mean over its runs; nothing: the simulation has not recorded it
  std::optional<double> exposed_us;
  int shared = 1;                    // readers that get what it makes
};

struct TensorSide {
  std::string operators;   // a name, or a selection of several; `home`, `load`, `update`, …
  std::vector<OpId> ops;   // empty: none
  std::string segment, place, layout;
  Tiling tiling;
};

struct TensorReader : TensorSide {
  int writer = 0;  // index
  std::vector<TensorMove> moves;
  std::vector<Conversion> hops;  // that the moves are of, each with the paths that were refused instead of it
};

struct TensorIndex {
  std::string axis;
  std::int64_t size = 1, index = 0;
};

struct TensorFacts {
  std::string tensor, dtype;
  std::vector<std::int64_t> sizes;
  std::vector<std::string> dimensions;
  bool gradient = false, has_gradient = false;
  std::vector<TensorIndex> indices;  // free axes on which what is shown depends
  std::vector<TensorSide> writers;   // one for each place
  std::vector<TensorReader> readers;
};

struct TensorQuestion {
  bool gradient = false;
  std::map<std::string, std::int64_t> index = {};  // of free axes, by name; others 0
  bool every_place = false;                        // also those where this index does not run
  std::int64_t most_tiles = 64;                    // of a side
  bool operator==(const TensorQuestion&) const = default;
};

Result<TensorFacts> tensor_facts(const Evaluation&, const Cluster&, const std::string& tensor, const TensorQuestion&);

}  // namespace planscope
