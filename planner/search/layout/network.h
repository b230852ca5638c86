#pragma once
// A cost network: what the choice of layouts looks like to the solver. Each node (an operator) takes one of its
// strategies; a strategy costs and needs memory by itself, and a pair of strategies costs along each edge (conversions).
//
//   cost(choice)   = sum of kind.cost[choice] over nodes + sum of pair.at(choice[from], choice[to]) over edges
//   memory(choice) = sum of kind.memory[row][choice] over nodes, for each row (a device class, a pipeline stage);
//                    it may not exceed limits[row]
//
// Nodes of one kind have equal strategies; edges of one pair have equal costs. That is all that the solver needs to know
// of "equal layers": nothing here forces equal nodes to choose alike. Costs have any unit (microseconds), memory any
// whole one (bytes). A lock leaves a node some of its strategies.
//
//   CostNetwork n{.limits = {100}, .kinds = {{{1, 2}, {{80, 40}}}}, .pairs = {{2, 2, {0, 1, 1, 0}}},
//                 .nodes = {0, 0}, .edges = {{0, 1, 0}}};
#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::layouts {

struct Kind {
  std::vector<double> cost;                       // [strategy]
  std::vector<std::vector<std::int64_t>> memory;  // [row][strategy]
  int strategies() const { return static_cast<int>(cost.size()); }
  bool operator==(const Kind&) const = default;
};

struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;  // row after row
  double at(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
  bool operator==(const Matrix&) const = default;
};

struct Edge {
  int from = 0, to = 0, pair = 0;  // nodes, and the matrix: rows are the strategies of `from`
  bool operator==(const Edge&) const = default;
};

struct CostNetwork {
  std::vector<std::int64_t> limits;  // [row]; no rows: no memory limit
  std::vector<Kind> kinds;
  std::vector<Matrix> pairs;
  std::vector<int> nodes;  // kind of each
  std::vector<Edge> edges;

  const Kind& kind(int node) const { return kinds[nodes[node]]; }
  int rows() const { return static_cast<int>(limits.size()); }
  bool operator==(const CostNetwork&) const = default;
};

using Locks = std::map<int, std::vector<int>>;  // node -> strategies that it may take; nodes that are missing: all
using Choice = std::vector<int>;                // [node]

double cost_of(const CostNetwork&, const Choice&);
std::vector<std::int64_t> memory_of(const CostNetwork&, const Choice&);
bool fits(const CostNetwork&, const std::vector<std::int64_t>& memory);

// The strategies that a node may take, ascending.
std::vector<int> allowed_strategies(const CostNetwork&, const Locks&, int node);

// What is wrong with a network or its locks; nothing: the solver takes it. Refused are indices out of range, matrices
// whose size is not that of their kinds, edges from a node to itself, kinds without strategies, locks that leave nothing,
// negative memory, costs that are not finite or above 1e15, and memory of more than 2^53 together (use a larger unit).
std::vector<Diagnostic> faults(const CostNetwork&, const Locks& = {});

}  // namespace planscope::layouts
