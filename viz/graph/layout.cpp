#include "viz/graph/layout.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas/text.h"

namespace planscope::viz {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr double map_width = 150, map_height = 84, map_margin = 8;
constexpr double margin = 20;  // around the whole
constexpr double dot = 8;

Point point(const GraphModel& m, std::int32_t k) { return {m.point_x[at(k)], m.point_y[at(k)]}; }

}  // namespace

GraphAreas areas(const GraphModel& m, const GraphView& v, const Rect& area) {
  GraphAreas out;
  const bool legend = m.colour != ColourKind::none && area.height > 120;
  out.bar = {area.x, area.y, area.width, std::min(area.height, graph_bar_height)};
  out.legend = {area.x, area.bottom() - (legend ? graph_legend_height : 0), area.width, legend ? graph_legend_height : 0};
  out.body = {area.x, out.bar.bottom(), area.width, std::max(0.0, out.legend.y - out.bar.bottom())};
  const Rect whole = to_screen(v, out.body, {0, 0, m.width, m.height});
  const bool all = intersection(whole, inset(out.body, -1)) == whole;
  if (!all && m.nodes() > 0 && out.body.width > 2.5 * map_width && out.body.height > 2 * map_height)
    out.map = {out.body.right() - map_width - map_margin, out.body.bottom() - map_height - map_margin, map_width, map_height};
  return out;
}

Point to_screen(const GraphView& v, const Rect& body, Point p) {
  return {body.x + (p.x - v.at.x) * v.zoom, body.y + (p.y - v.at.y) * v.zoom};
}
Rect to_screen(const GraphView& v, const Rect& body, const Rect& r) {
  const Point p = to_screen(v, body, Point{r.x, r.y});
  return {p.x, p.y, r.width * v.zoom, r.height * v.zoom};
}
Point to_graph(const GraphView& v, const Rect& body, Point p) {
  return {v.at.x + (p.x - body.x) / v.zoom, v.at.y + (p.y - body.y) / v.zoom};
}

Point middle(const GraphModel& m, int edge) {
  const Span32 span = span_of(m.point_end, edge);
  if (span.end - span.begin < 2) {
    const Rect r = body_of(m, m.from[at(edge)]);
    return {r.right() + 58, r.y + r.height / 2};
  }
  double length = 0;
  const auto step_to = [&](std::int32_t k) {
    return std::hypot(point(m, k).x - point(m, k - 1).x, point(m, k).y - point(m, k - 1).y);
  };
  for (std::int32_t k = span.begin + 1; k < span.end; ++k) length += step_to(k);
  double left = length / 2;
  for (std::int32_t k = span.begin + 1; k < span.end; ++k) {
    const Point a = point(m, k - 1), b = point(m, k);
    const double step = step_to(k);
    if (step >= left && step > 0) return {a.x + (b.x - a.x) * left / step, a.y + (b.y - a.y) * left / step};
    left -= step;
  }
  return point(m, span.end - 1);
}

bool chip_shown(const GraphModel& m, const GraphView& v, int chip) {
  return m.chip_gradient[at(chip)] ? v.backward : v.forward;
}

Rect chip_rect(const GraphModel& m, const GraphView& v, const Rect& body, int chip) {
  const int edge = m.chip_edge[at(chip)];
  int before = 0, all = 0;
  for (int k = chip; k >= 0 && m.chip_edge[at(k)] == edge; --k) before += k != chip && chip_shown(m, v, k);
  all = before + chip_shown(m, v, chip);
  for (int k = chip + 1; k < m.chips() && m.chip_edge[at(k)] == edge; ++k) all += chip_shown(m, v, k);
  const Point p = to_screen(v, body, middle(m, edge));
  const bool text = v.zoom >= graph_text_zoom;
  const double scale = std::min(1.0, v.zoom);
  const double width = text ? graph_chip_width * scale : dot;
  const double height = text ? graph_chip_height : dot;
  const double step = height + 2;
  return {p.x - width / 2, p.y - step * all / 2 + step * before, width, height};
}

Rect body_of(const GraphModel& m, int node) {
  Rect r = m.rect(node);
  const Span32 lane = span_of(m.lane_end, node);
  if (lane.end > lane.begin) r.height = std::max(r.height / 3, r.height - graph_lane_height);
  return r;
}

bool lane_shown(const GraphView& v, LaneKind kind) {
  return kind == LaneKind::fetch ? v.forward : kind == LaneKind::gradient ? v.backward : v.update;
}

Rect lane_of(const GraphModel& m, const GraphView& v, int node) {
  const Span32 lane = span_of(m.lane_end, node);
  double lines = 0;
  for (std::int32_t k = lane.begin; k < lane.end; ++k)
    lines += lane_shown(v, static_cast<LaneKind>(m.lane_kind[at(k)]));
  if (lines == 0) return {};
  const Rect body = body_of(m, node);
  return {body.x + 8, body.bottom(), body.width - 16, lines * graph_lane_line + 4};
}

std::vector<BarItem> bar_items(const GraphModel& m, const GraphView& v, const Rect& bar) {
  std::vector<BarItem> out;
  const auto put = [&](BarItem item, double x) {
    item.rect = {x, bar.y, text_width(item.text, item.strong ? TextStyle::strong : TextStyle::normal).value,
                 bar.height};
    out.push_back(std::move(item));
    return out.back().rect.right();
  };
  const int node = v.focus >= 0 ? v.focus : v.hover;
  const std::vector<int> path = node >= 0 && node < m.nodes() ? path_to(m, node) : std::vector<int>{};
  double x = put({.kind = BarKind::whole, .text = m.name, .rect = {}, .strong = path.empty()}, bar.x + 10);
  for (std::size_t k = 0; k < path.size(); ++k) {
    x = put({.text = " ▸ ", .rect = {}}, x);
    x = put({.kind = BarKind::node,
             .node = path[k],
             .text = m.text(m.title[at(path[k])]),
             .rect = {},
             .strong = k + 1 == path.size()},
            x);
  }
  int matches = 0;
  for (int n = 0; n < m.nodes(); ++n) matches += m.found[at(n)];
  std::vector<BarItem> right;
  if (!m.search.empty())
    right.push_back({.text = "'" + m.search + "': " + std::to_string(matches) + " found   ", .rect = {}});
  const auto sign = [](bool on) { return on ? std::string(" ✓") : std::string(" ○"); };
  right.push_back({.kind = BarKind::forward, .text = "forward" + sign(v.forward), .rect = {}});
  right.push_back({.kind = BarKind::backward, .text = "backward" + sign(v.backward), .rect = {}});
  right.push_back({.kind = BarKind::update, .text = "update" + sign(v.update), .rect = {}});
  constexpr double between = 14;
  double width = -between;
  for (const BarItem& item : right) width += text_width(item.text, TextStyle::normal).value + between;
  double from = bar.right() - 10 - width;
  if (from < x + 20) return out;  // there is no room for the switches
  for (BarItem& item : right) from = put(std::move(item), from) + between;
  return out;
}

namespace {

double distance_to(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double at = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - at * dx, p.y - a.y - at * dy);
}

// The edge whose line is nearest, a few pixels away at most.
int edge_at(const GraphModel& m, const GraphView& v, Point p) {
  constexpr double reach = 4;
  double nearest = reach / v.zoom;
  int out = -1;
  for (int k = 0; k < m.edges(); ++k) {
    if (m.next[at(k)]) continue;  // it is not drawn as a line
    const Span32 points = span_of(m.point_end, k);
    for (std::int32_t i = points.begin + 1; i < points.end; ++i) {
      const double away = distance_to(p, {m.point_x[at(i - 1)], m.point_y[at(i - 1)]}, {m.point_x[at(i)], m.point_y[at(i)]});
      if (away < nearest) nearest = away, out = k;
    }
  }
  return out;
}

}  // namespace

GraphHit hit_test(const GraphModel& m, const GraphView& v, const Rect& area, Point p) {
  GraphHit out;
  const GraphAreas a = areas(m, v, area);
  if (!a.body.contains(p) || a.map.contains(p)) return out;
  for (int k = m.chips(); k-- > 0;)
    if (chip_shown(m, v, k) && chip_rect(m, v, a.body, k).contains(p)) {
      out.chip = k;
      return out;
    }
  const Point q = to_graph(v, a.body, p);
  for (int k = m.nodes(); k-- > 0;)  // what is in a box comes behind it
    if (m.rect(k).contains(q)) {
      out.node = k;
      break;
    }
  if (out.node < 0 || m.state_of(out.node) == NodeState::expanded) out.edge = edge_at(m, v, q);
  if (out.edge >= 0) out.node = -1;
  return out;
}

std::vector<GraphStop> stops(const GraphModel& m, const GraphView& v) {
  std::vector<GraphStop> out;
  for (int n = 0; n < m.nodes(); ++n) {
    const Rect r = m.rect(n);
    if (m.state_of(n) != NodeState::expanded) out.push_back({n, -1, {r.x + r.width / 2, r.y + r.height / 2}});
  }
  for (int c = 0; c < m.chips(); ++c)
    if (chip_shown(m, v, c)) out.push_back({-1, c, middle(m, m.chip_edge[at(c)])});
  return out;
}

GraphView fitted_to(GraphView v, const GraphModel& m, const Rect& area, const Rect& part) {
  const Rect body = areas(m, v, area).body;
  if (part.empty() || body.empty()) return v;
  const double zoom = std::min({1.0, (body.width - 2 * margin) / part.width, (body.height - 2 * margin) / part.height});
  v.zoom = std::clamp(zoom, graph_zoom_least, graph_zoom_most);
  v.at = {part.x + part.width / 2 - body.width / 2 / v.zoom, part.y + part.height / 2 - body.height / 2 / v.zoom};
  return v;
}

GraphView fitted(GraphView v, const GraphModel& m, const Rect& area) {
  return fitted_to(v, m, area, {0, 0, m.width, m.height});
}

std::vector<int> path_to(const GraphModel& m, int node) {
  std::vector<int> out;
  for (int n = node; n >= 0; n = m.parent[at(n)]) out.insert(out.begin(), n);
  return out;
}

}  // namespace planscope::viz
