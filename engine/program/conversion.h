#pragma once
// Conversions: how a value gets from one layout to another on one place, and what it costs.
//
// A path is a list of moves. Materialization takes the cheapest one: a shortest path over layouts whose edges cost what
// the cluster says for the collective, the bytes and the group (engine/cluster/communication.h), and a little more for
// each move, so that fewer win a tie. Searched are moves towards the target: digits are cut (slice, reduce-scatter,
// all-to-all) where the target has them, and gathered or reduced otherwise; sums may be scattered in between; digits that
// the target has in another order wait at other parts, and what has to go is cut for the way by digits that the target has
// elsewhere. Axes along which both sides hold copies, or parts of sums, take no part; nothing becomes a part of a sum for
// the way. So there are some dozens of layouts for a pair. A digit of a free axis is never gathered: its indices do not
// exist at the same time.
// Rows that are split by key come from, and go back to, blocks in an all-to-all (or are selected where they are
// replicated, and gathered again); they are not sent from one key to another directly.
//
// Over two axes the path is the cheapest of all sequences of moves (held against a search that does not look at the target,
// whatever the cluster); over three, and of rows by key, so with the costs of the presets. Where bytes are all that counts,
// one in thirty changes over three axes is dearer than need be, by 60 % at most.
//
//   const ConversionSpace space{graph, program, cluster, tensor, place};
//   const std::optional<ConversionPath> best = cheapest_conversion(space, partial, whole);   // all_reduce over tensor
//   for (const ConversionPath& p : conversions(space, partial, whole, 4)) …                  // the best four, in order
#include <optional>
#include <vector>

#include "engine/base/units.h"
#include "engine/cluster/cluster.h"
#include "engine/program/program.h"

namespace planscope {

struct ConversionSpace {
  const Graph& graph;
  const Program& program;
  const Cluster& cluster;
  TensorId tensor = -1;
  PlaceId place = 0;
};

struct ConversionPath {
  std::vector<Move> moves;
  std::vector<Microseconds> times;  // of each; 0 for local moves
  // By which paths are compared: a little for each move, and the times; sums of a parameter's gradient share the latency
  // of a bucket (bucket.h).
  double cost = 0;
  Microseconds time() const;
};

// The layout after a legal move.
Layout apply(const Layout&, const Move&);

// What a legal move adds to the cost of a path.
double move_cost(const ConversionSpace&, const Layout& from, const Move&);

// Nothing: there is no way (a free axis would have to be gathered).
std::optional<ConversionPath> cheapest_conversion(const ConversionSpace&, const Layout& from, const Layout& to);

// The cheapest paths that visit no layout twice, cheapest first; at most `limit`.
std::vector<ConversionPath> conversions(const ConversionSpace&, const Layout& from, const Layout& to,
                                        std::size_t limit);

}  // namespace planscope
