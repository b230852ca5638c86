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
  bool update = true;                    // whether the homes and the update of parameters are
  int hover = -1, hover_chip = -1, hover_edge = -1;  // node, chip, edge
  int focus = -1, focus_chip = -1;       // node, or chip, that the keyboard is at
  std::set<int> marked = {};             // nodes that are selected
  std::set<int> marked_edges = {};       // the same, of edges
  std::set<int> changed = {};            // nodes that differ from the base plan: a bar at the left edge
  std::optional<Point> mouse, press;     // of the area; where the button went down
  bool dragging = false;
};

inline constexpr double graph_bar_height = 26;     // of the breadcrumbs
inline constexpr double graph_legend_height = 24;
inline constexpr double graph_chip_width = 188, graph_chip_height = 34;
inline constexpr double graph_lane_line = 13,
                        graph_lane_height = 58;  // of parameters, at the lower end of a node that has some
inline constexpr double graph_lane_zoom = 0.85;  // below it the lines of a lane are marks alone
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

// A node without the lane of its parameters; and that lane, as high as what is shown of it: empty where nothing is.
Rect body_of(const GraphModel&, int node);
Rect lane_of(const GraphModel&, const GraphView&, int node);
bool lane_shown(const GraphView&, LaneKind);

// What stands in the bar: the boxes around what is pointed at, each of which a click goes to; how much is found; and
// the switches.
enum class BarKind : std::uint8_t { text, whole, node, forward, backward, update };
struct BarItem {
  BarKind kind = BarKind::text;
  int node = -1;
  std::string text;
  Rect rect;
  bool strong = false;
};
std::vector<BarItem> bar_items(const GraphModel&, const GraphView&, const Rect& bar);

// What the keyboard can be at: the nodes that are not expanded, and the chips that are shown. One of the two is -1.
struct GraphStop {
  int node = -1, chip = -1;
  Point at;  // in the graph
  bool operator==(const GraphStop& o) const { return node == o.node && chip == o.chip; }
};
std::vector<GraphStop> stops(const GraphModel&, const GraphView&);

struct GraphHit {
  int node = -1, chip = -1, edge = -1;  // an edge only where no other node than an expanded one is
};
GraphHit hit_test(const GraphModel&, const GraphView&, const Rect& area, Point);

// The whole in the middle of the area, no larger than it is; and some of it.
GraphView fitted(GraphView, const GraphModel&, const Rect& area);
GraphView fitted_to(GraphView, const GraphModel&, const Rect& area, const Rect& of_graph);

// Boxes around a node, the outermost first, then the node.
std::vector<int> path_to(const GraphModel&, int node);

}  // namespace planscope::viz
