#pragma once
// What of a graph is visible, in the language of Graphviz, for other tools: expanded nodes as clusters, nodes with what
// a plan does there, edges with the tensor and what is communicated.
//
//   std::string dot = dot_text(graph_picture(document), graph);   // dot -Tsvg reads it
#include <string>

#include "app/session/graph/picture.h"

namespace planscope::session {

std::string dot_text(const GraphPicture&, const Graph&);

}  // namespace planscope::session
