#pragma once
// By what the nodes of a graph are coloured (State::colour).
#include <vector>

#include "app/session/graph/picture.h"
#include "viz/graph/model.h"

namespace planscope::session {

// The bands, levels and legend of a model whose nodes are those of the picture.
void colour_graph(const State&, const GraphPicture&, viz::GraphModel&);

// What the colour `difference` tells the plan from, where plans are compared: the first other one. Null: the version that
// was kept last.
const ComparedEntry* compared_plan(const Document&);

// Operators that are placed, split or kept otherwise than in the plan that was kept last, or whose parameters are, ascending; none
// where nothing has been edited since.
std::vector<OpId> changed_operators(const State&);

}  // namespace planscope::session
