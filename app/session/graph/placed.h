#pragma once
// A graph that is drawn, with where everything lies. Sizes of nodes depend on the model alone, so that nothing
// moves when a plan is edited. The layout is that of Graphviz, or the layered one of viz/graph_layout where Graphviz's
// would take long.
//
//   PlacedGraph p = placed_graph(graph, folded, expanded);
//   p.layout.nodes[k]; p.how     "dot", or "layered" with the reason
#include <set>
#include <string>

#include "app/session/graph/visible.h"
#include "viz/graph_layout/layout.h"

namespace planscope::session {

struct PlacedGraph {
  VisibleGraph visible;
  viz::GraphLayout layout;  // nodes as in `visible`; edges too, of those to the next layer none
  std::string how, why;     // `why`: the layout is not Graphviz's
};

PlacedGraph placed_graph(const Graph&, const FoldedModel&, const std::set<std::string>& expanded);

}  // namespace planscope::session
