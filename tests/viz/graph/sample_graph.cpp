#include "tests/viz/graph/sample_graph.h"

#include "viz/graph/layout.h"

namespace planscope::testing {

using namespace planscope::viz;

GraphModel sample_graph() {
  GraphModel m;
  m.name = "sample";
  m.search = "m";
  m.colour = ColourKind::categories;
  m.colour_name = "place";
  m.category = {m.intern("pipe=0"), m.intern("pipe=1")};
  std::vector<std::pair<LaneKind, std::string>> lane;
  const auto node = [&](const char* id, NodeState state, int parent, const Rect& r) {
    return m.add_node({.id = id,
                       .title = id,
                       .state = state,
                       .parent = parent,
                       .lines = {"batch ÷ 2 data", "1.2 ms"},
                       .facts = {"a fact"},
                       .command = std::string("select operators=\"") + id + "\"",
                       .bands = {{0, 0.75}, {1, 0.25}},
                       .found = parent >= 0,
                       .lane = lane},
                      r);
  };
  const int embed = node("embed", NodeState::single, -1, {0, 40, 140, 66});
  const int layer = node("layer", NodeState::expanded, -1, {240, 0, 440, 190});
  const int norm = node("norm", NodeState::single, layer, {260, 40, 140, 66});
  lane = {{LaneKind::home, "4 MiB at home"},
          {LaneKind::fetch, "fetch all_gather"},
          {LaneKind::gradient, "gradient sums"},
          {LaneKind::update, "update 1 ms"}};
  const int mlp = node("mlp", NodeState::folded, layer, {520, 40, 140, 66 + graph_lane_height});
  lane.clear();
  const int head = node("head", NodeState::single, -1, {780, 40, 140, 66});
  const auto edge = [&](int from, int to, bool next = false) {
    const Rect a = m.rect(from), b = m.rect(to);
    std::vector<Point> line;
    if (!next) line = {{a.right(), a.y + 33}, {b.x, b.y + 33}};
    return m.add_edge(from, to, line, "a tensor", "select tensor=\"t\"", next);
  };
  const int first = edge(embed, norm), second = edge(norm, mlp);
  edge(mlp, head);
  edge(mlp, norm, true);
  m.add_chip(first, {.title = "← all_reduce", .about = "1 MiB", .gradient = true, .exposed = false, .facts = {"hidden"}});
  m.add_chip(second, {.title = "all_gather", .about = "64 MiB", .gradient = false, .exposed = true, .facts = {"exposed"}});
  return m;
}

}  // namespace planscope::testing
