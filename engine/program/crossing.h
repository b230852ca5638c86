#pragma once
// Crossings: the layouts in which a value goes from one place to another (program.h, Transfer), and what that costs.
//
// A value crosses in one layout where it is sent and in another one where it arrives; any two will do, since what goes
// between devices are regions. Before, what is held is converted to the one (parts of a sum are added); behind, the other
// one is converted to what is read. Materialization takes the cheapest pair: conversions of both sides
// (engine/program/conversion.h) and the transfer between them (transfer_load), in microseconds. Tried are, at each place,
// the layouts held or read there, those of the other place in its axes, and each of these cut further by axes that it does
// not use: so a value that is the same on all devices goes in parts, one for each, and is gathered where it arrives
// (Megatron-LM's scatter-gather), and a partial one is reduced to parts, sent, and gathered. What splits over free axes
// stays as it is held: at one index nothing else exists. Values are sent whole in what a key would select, and never in
// blocks that follow from coordinates (turned digits) or that reach over several indices; where such are held or read, the
// usual pair is all there is. Places of one grid whose fixed coordinates differ alike (the stages of a pipeline and those
// behind them) cross alike: of these pairs the slowest counts. So a Program's instructions do not depend on which stages
// share a node.
//
//   tensor=2 -> data=2, whole -> batch by data:   sent [batch/tensor, hidden], got [batch/data, hidden]
//   const CrossingSpace space{graph, program, cluster, tensor, front, back};
//   const Crossing best = crossings(space, {{whole, 1}}, {{by_data, 1}}, {whole, whole}, 1).front();
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/cluster/cluster.h"
#include "engine/program/program.h"

namespace planscope {

struct CrossingSpace {
  const Graph& graph;
  const Program& program;
  const Cluster& cluster;
  TensorId tensor = -1;
  PlaceId from = 0, to = 0;
};

// A layout held where it is sent, or read where it arrives, and how often it is converted there.
struct CrossingEnd {
  Layout layout;
  int times = 1;
  bool operator==(const CrossingEnd&) const = default;
  auto operator<=>(const CrossingEnd&) const = default;
};

struct CrossingPair {
  Layout sent, got;
  bool operator==(const CrossingPair&) const = default;
  auto operator<=>(const CrossingPair&) const = default;
};

struct Crossing {
  CrossingPair pair;
  Microseconds time;  // crossing_time
  double cost = 0;    // by which crossings are compared: with the conversions of both sides
};

// The cheapest crossings, cheapest first, at most `limit` and at least one; of equal ones the usual pair, then what is
// tried first.
std::vector<Crossing> crossings(const CrossingSpace&, const std::vector<CrossingEnd>& held,
                                const std::vector<CrossingEnd>& read, const CrossingPair& usual, std::size_t limit);

// Of the transfer, between the slowest of alike_pairs.
Microseconds crossing_time(const CrossingSpace&, const CrossingPair&);

// All pairs of places that cross as these two, in the order of their coordinates.
std::vector<std::pair<Place, Place>> alike_pairs(const Program&, const Place& from, const Place& to);

// The same layout in the axes of another place: axes of equal name and size; what other axes split, or a key, is whole,
// what is partial over axes of the grid has to be combined first.
Layout translated(const Program&, const Layout&, PlaceId from, PlaceId to);

}  // namespace planscope
