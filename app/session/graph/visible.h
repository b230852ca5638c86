#pragma once
// What of a folded model is drawn: groups that are expanded, as boxes around what is in them, the others as nodes, and the tensors
// that pass from one node to another.
//
//   VisibleGraph v = visible_graph(graph, folded, {"model", "model.layers[*]"});
//   v.nodes[v.node_of[op]].group
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/session/graph/fold.h"

namespace planscope::session {

struct VisibleNode {
  int group = 0;         // of the folded model
  int parent = -1;       // the expanded node around it; -1: none
  bool expanded = false;
  int parameters = 0;  // of all equal ones, that an operator in it is the first to read
  std::int64_t parameter_bytes = 0;
};

// Tensors from one node to another; of nodes that stand for equal layers: those of one of them.
struct VisibleEdge {
  int from = 0, to = 0;      // nodes that are not expanded
  bool next = false;         // to the next one of equal layers around both, as from layer 3 to layer 4
  std::vector<TensorId> tensors = {};
  std::int64_t count = 0;    // of equal ones
};

struct VisibleGraph {
  std::vector<VisibleNode> nodes;  // in program order, what is around others before them
  std::vector<VisibleEdge> edges;
  std::vector<int> node_of;        // by operator: the node that is not expanded

  // Whether a tensor from one operator to another passes to the next one of equal layers.
  bool is_next(const FoldedModel&, OpId from, OpId to) const;
};

inline constexpr std::size_t kMostBoxes = 1500;  // that are drawn at once

VisibleGraph visible_graph(const Graph&, const FoldedModel&, const std::set<std::string>& expanded);
std::size_t count_visible(const FoldedModel&, const std::set<std::string>& expanded);

}  // namespace planscope::session
