#pragma once
// What input does to the view of a graph, and what it asks the session for. Pure functions.
//
// Wheel: closer and further about the mouse. Drag: moves. Click: selects a node, or the tensor of a chip; on nothing: nothing is
// selected; in the bar: goes to a box, or turns a switch. Shift and click: selects the path from the focus to that
// node. Double click or Enter: expands a folded node, folds an expanded one. Arrows: along edges, by way of their chips, and up
// and down.
// Home: all; F: the focus; + and -: closer and further; N: the next node with what is searched for; A: the neighbours
// of what is selected, too; Escape: nothing is selected; W, S and D: what is shown of forward, of backward and of the
// update.
#include <string>
#include <vector>

#include "viz/canvas/scene.h"
#include "viz/graph/layout.h"

namespace planscope::viz {

struct GraphChange {
  GraphView view;
  std::vector<std::string> commands;  // of the session
  int activated = -1;                 // the node that is expanded or folded: it is to stay where it is
};
GraphChange apply(GraphView, const Input&, const GraphModel&, const Rect& area);

// The view of the next model: `kept`, a node by its id, stays where it is on the screen; without one, what is in the middle.
GraphView carry_over(const GraphView&, const GraphModel& before, const GraphModel& now, const std::string& kept, const Rect& area);

// The stop that one arrives at from another one; nothing: there is none in that direction. Left and right go along edges, first
// to the chip of one that has some and then to its other end; up and down go from node to node, and from chip to chip.
enum class Direction { left, right, up, down };
std::optional<GraphStop> neighbour(const GraphModel&, const GraphView&, const GraphStop&, Direction);

}  // namespace planscope::viz
