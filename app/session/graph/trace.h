#pragma once
// What is beside nodes of a graph, and what lies between two of them, along the tensors that pass. Pure; nodes are
// those that are visible and not expanded.
//
//   std::set<int> here = leaves(visible, *node_named(folded, visible, "model.layers[*].mlp"));
//   neighbours(visible, here, 1)        // with what they read from, and what reads from them
//   shortest_path(visible, here, there) // along the edges, or else against all of them; empty: there is none
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "app/session/graph/visible.h"
#include "app/session/selected.h"

namespace planscope::session {

// The node that shows a group, or the nearest around it. Nothing: there is no such group.
std::optional<int> node_named(const FoldedModel&, const VisibleGraph&, std::string_view id);
std::set<int> leaves(const VisibleGraph&, int node);  // the node, or what is in it

std::set<int> neighbours(const VisibleGraph&, std::set<int> nodes, int steps);
std::vector<int> shortest_path(const VisibleGraph&, const std::set<int>& from, const std::set<int>& to);

// What a selection is shown at: its operators; of parameters alone, as of update(…), those that read them first.
std::vector<OpId> operators_shown(const Selected&, const Graph&);

// Which edges tensors pass along, from what makes them to each that reads them.
std::vector<char> edges_along(const FoldedModel&, const VisibleGraph&, const Graph&, const std::set<TensorId>&);

// The nodes in which operators are, each with how many of them.
std::vector<std::int64_t> operators_in(const VisibleGraph&, const std::vector<OpId>&);
// Which nodes a selection of operators is shown at: those that hold some; of expanded ones, those that hold no others.
std::vector<char> shown_as_selected(const FoldedModel&, const VisibleGraph&, const std::vector<OpId>&);

}  // namespace planscope::session
