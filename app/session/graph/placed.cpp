#include "app/session/graph/placed.h"

#include <algorithm>
#include <map>

#include "app/session/graph/run_layout.h"
#include "viz/canvas/text.h"
#include "viz/graph/layout.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostForDot = 300;           // nodes; more take longer than 0.1 s (docs/benchmarks.md)
constexpr double kLeast = 236, kMost = 290, kHeight = 80;

viz::LayoutRequest request_of(const FoldedModel& f, const VisibleGraph& v) {
  viz::LayoutRequest out;
  for (const VisibleNode& n : v.nodes) {
    const Group& g = f.groups[static_cast<std::size_t>(n.group)];
    const std::string title = g.label + (g.repeats > 1 ? " × " + std::to_string(g.repeats) : "");
    const double width = viz::text_width(title, viz::TextStyle::strong).value + 60;
    out.nodes.push_back({n.parent, n.expanded, std::clamp(width, kLeast, kMost),
                         kHeight + (!n.expanded && n.parameters > 0 ? viz::graph_lane_height : 0)});
  }
  for (const VisibleEdge& e : v.edges)
    if (!e.next) out.edges.push_back({e.from, e.to});
  return out;
}

// Ends of an edge at a node with a lane of parameters come to the node above it, and what is near them with them.
void move_ends(std::vector<viz::Point>& line, const viz::Rect& from, const viz::Rect& to) {
  constexpr double margin = 8;
  const auto into = [](double y, const viz::Rect& r) {
    return std::clamp(y, r.y + margin, r.y + std::min(r.height, kHeight) - margin) - y;
  };
  if (line.size() < 2) return;
  const double first = into(line.front().y, from), last = into(line.back().y, to);
  const auto end = static_cast<double>(line.size() - 1);
  for (std::size_t k = 0; k < line.size(); ++k) {
    const double share = static_cast<double>(k) / end;
    line[k].y += first * std::max(0.0, 1 - 2 * share) + last * std::max(0.0, 2 * share - 1);
  }
}

}  // namespace

PlacedGraph placed_graph(const Graph& g, const FoldedModel& f, const std::set<std::string>& expanded) {
  PlacedGraph out{visible_graph(g, f, expanded), {}, "dot", ""};
  const viz::LayoutRequest request = request_of(f, out.visible);
  if (request.nodes.size() > kMostForDot)
    out.why = "more than " + std::to_string(kMostForDot) + " nodes are drawn";
  else if (Result<viz::GraphLayout> found = run_layout(request); found.value)
    out.layout = std::move(*found.value);
  else
    out.why = found.diagnostics.front().what;
  if (!out.why.empty()) {
    out.how = "layered";
    out.layout = viz::layered_layout(request);
  }
  // Edges to the next layer have no line of their own.
  std::vector<std::vector<viz::Point>> lines;
  std::size_t at = 0;
  for (const VisibleEdge& e : out.visible.edges) {
    lines.push_back(e.next ? std::vector<viz::Point>{} : std::move(out.layout.edges[at++]));
    move_ends(lines.back(), out.layout.nodes[static_cast<std::size_t>(e.from)],
              out.layout.nodes[static_cast<std::size_t>(e.to)]);
  }
  out.layout.edges = std::move(lines);
  return out;
}

}  // namespace planscope::session
