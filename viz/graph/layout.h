#pragma once
// Where a graph is on the screen, and what is under a point. Pure functions of model, view and area; drawing and hit testing use the
// same ones.
#include <optional>
#include <set>
#include <string>

#include "viz/graph/model.h"

namespace planscope::viz {

// What the user looks at. A value: copying it is a bookmark.
struct GraphView {
  double zoom = 1;
  Point at;  // the point of the graph at the upper left corner of the body
  bool forward = true, backward = true;  // which communication is shown
  int hover = -1, hover_chip = -1;       // node; chip
  int focus = -1;                        // node that the keyboard is at
  std::set<int> marked = {};             // nodes that are selected
  std::vector<int> path = {};            // nodes from one to another, that was asked for
  std::optional<Point> mouse, press;     // of the area; where the button went down
  bool dragging = false;
};

inline constexpr double graph_bar_height = 26;     // of the breadcrumbs
inline constexpr double graph_legend_height = 24;
inline constexpr double graph_chip_width = 104, graph_chip_height = 34;
inline constexpr double graph_zoom_least = 0.02, graph_zoom_most = 3;
inline constexpr double graph_text_zoom = 0.62;  // below it chips are dots, and nodes have no lines

struct GraphAreas {
  Rect bar, body, legend;
  Rect map;  // the minimap; empty where everything is seen
};
GraphAreas areas(const GraphModel&, const GraphView&, const Rect& area);

// Between the graph and the screen.
Rect to_screen(const GraphView&, const Rect& body, const Rect& of_graph);
Point to_screen(const GraphView&, const Rect& body, Point of_graph);
Point to_graph(const GraphView&, const Rect& body, Point of_screen);

// The middle of an edge by its length, in the graph; of one to the next layer, beside the node that it leaves.
Point middle(const GraphModel&, int edge);
// On the screen; a chip keeps its size, until it is a dot. Several of one edge are below each other.
Rect chip_rect(const GraphModel&, const GraphView&, const Rect& body, int chip);
bool chip_shown(const GraphModel&, const GraphView&, int chip);

struct GraphHit {
  int node = -1, chip = -1;
};
GraphHit hit_test(const GraphModel&, const GraphView&, const Rect& area, Point);

// The whole in the middle of the area, no larger than it is; and some of it.
GraphView fitted(GraphView, const GraphModel&, const Rect& area);
GraphView fitted_to(GraphView, const GraphModel&, const Rect& area, const Rect& of_graph);

// Boxes around a node, the outermost first, then the node.
std::vector<int> path_to(const GraphModel&, int node);

}  // namespace planscope::viz
