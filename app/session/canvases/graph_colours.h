#pragma once
// By what the nodes of a graph are coloured (State::colour).
#include "app/session/graph/picture.h"
#include "viz/graph/model.h"

namespace planscope::session {

// The bands, levels and legend of a model whose nodes are those of the picture.
void colour_graph(const State&, const GraphPicture&, viz::GraphModel&);

}  // namespace planscope::session
