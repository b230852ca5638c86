#pragma once
// Where the nodes of a graph lie: from left to right along its edges, boxes around what belongs together. Two ways: by Graphviz, as a
// text for its `dot` and the answer read back (what runs it is the program `planscope-layout`, so that a layout that takes too long
// can be ended); and one of our own, less fine, that is always there and takes time proportional to nodes and edges.
//
//   GraphLayout l = layered_layout(request);
//   std::optional<GraphLayout> fine = read_plain(request, answer_of_dot);   // nothing: the answer is not whole
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/canvas/display_list.h"

namespace planscope::viz {

struct LayoutNode {
  int parent = -1;  // a box around it, that comes before it; -1: none
  bool box = false;
  double width = 0, height = 0;  // pixels; of boxes: at least
};

struct LayoutEdge {
  int from = 0, to = 0;  // nodes that are no boxes; each pair once
};

struct LayoutRequest {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
};

struct GraphLayout {
  std::vector<Rect> nodes;                // parallel to the request's
  std::vector<std::vector<Point>> edges;  // polylines from the right side of `from` to the left side of `to`
  Size size;                              // everything is within (0, 0) and this
};

inline constexpr double layout_rank_gap = 202;  // between ranks: a chip on an edge fits in
inline constexpr double layout_node_gap = 18;   // within a rank
inline constexpr double layout_box_margin = 16, layout_box_header = 26;

GraphLayout layered_layout(const LayoutRequest&);

std::string to_dot(const LayoutRequest&);
std::optional<GraphLayout> read_plain(const LayoutRequest&, std::string_view plain);  // output of `dot -Tplain`

}  // namespace planscope::viz
