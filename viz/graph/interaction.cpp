#include "viz/graph/interaction.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace planscope::viz {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr double drag_threshold = 4, zoom_step = 1.2;

Point centre(const Rect& r) { return {r.x + r.width / 2, r.y + r.height / 2}; }

void zoom_about(GraphView& v, const Rect& body, Point p, double factor) {
  const Point fixed = to_graph(v, body, p);
  v.zoom = std::clamp(v.zoom * factor, graph_zoom_least, graph_zoom_most);
  v.at = {fixed.x - (p.x - body.x) / v.zoom, fixed.y - (p.y - body.y) / v.zoom};
}

// Something of the graph stays in the area.
void keep_in_sight(GraphView& v, const GraphModel& m, const Rect& body) {
  const double w = body.width / v.zoom, h = body.height / v.zoom;
  v.at.x = std::clamp(v.at.x, -w * 0.9, std::max(-w * 0.9, m.width - w * 0.1));
  v.at.y = std::clamp(v.at.y, -h * 0.9, std::max(-h * 0.9, m.height - h * 0.1));
}

Rect on_screen(const GraphModel& m, const GraphView& v, const Rect& body, const GraphStop& s) {
  return s.node >= 0 ? to_screen(v, body, m.rect(s.node)) : chip_rect(m, v, body, s.chip);
}

void see(GraphView& v, const GraphModel& m, const Rect& body, const GraphStop& s) {
  const Rect r = on_screen(m, v, body, s);
  if (r.x < body.x || r.right() > body.right()) v.at.x += (centre(r).x - centre(body).x) / v.zoom;
  if (r.y < body.y || r.bottom() > body.bottom()) v.at.y += (centre(r).y - centre(body).y) / v.zoom;
}

void choose(GraphChange& c, const GraphModel& m, const GraphStop& s) {
  c.view.focus = s.node, c.view.focus_chip = s.chip;
  const std::string& command = m.text(s.node >= 0 ? m.command[at(s.node)] : m.edge_command[at(m.chip_edge[at(s.chip)])]);
  if (!command.empty()) c.commands.push_back(command);
}
void choose(GraphChange& c, const GraphModel& m, int node) { choose(c, m, GraphStop{.node = node, .at = {}}); }

std::string quoted_id(const GraphModel& m, int node) {
  std::string out = "\"";
  for (const char letter : m.text(m.id[at(node)])) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "\"";
}

void activate(GraphChange& c, const GraphModel& m, int node) {
  const NodeState s = m.state_of(node);
  if (s == NodeState::single) return;
  c.activated = node;
  c.commands.push_back((s == NodeState::folded ? "expand " : "collapse ") + quoted_id(m, node));
}

void move(GraphChange& c, const GraphModel& m, const Rect& body, Direction d) {
  const GraphView& v = c.view;
  std::optional<GraphStop> to;
  if (v.focus >= 0 || v.focus_chip >= 0)
    to = neighbour(m, v, {v.focus, v.focus_chip, v.focus >= 0 ? centre(m.rect(v.focus)) : middle(m, m.chip_edge[at(v.focus_chip)])}, d);
  else if (const std::vector<GraphStop> all = stops(m, v); !all.empty())
    to = all.front();
  if (!to) return;
  choose(c, m, *to);
  see(c.view, m, body, *to);
}

void press_key(GraphChange& c, Key key, const GraphModel& m, const Rect& area) {
  const Rect body = areas(m, c.view, area).body;
  switch (key) {
    case Key::home: c.view = fitted(c.view, m, area); break;
    case Key::f:
      if (c.view.focus >= 0) c.view = fitted_to(c.view, m, area, m.rect(c.view.focus));
      if (c.view.focus_chip >= 0) see(c.view, m, body, {.chip = c.view.focus_chip, .at = {}});
      break;
    case Key::plus: zoom_about(c.view, body, centre(body), zoom_step); break;
    case Key::minus: zoom_about(c.view, body, centre(body), 1 / zoom_step); break;
    case Key::left: move(c, m, body, Direction::left); break;
    case Key::right: move(c, m, body, Direction::right); break;
    case Key::up: move(c, m, body, Direction::up); break;
    case Key::down: move(c, m, body, Direction::down); break;
    case Key::enter:
      if (c.view.focus >= 0) activate(c, m, c.view.focus);
      break;
    case Key::n: {
      for (int k = 1; k <= m.nodes(); ++k) {
        const int node = (c.view.focus + k + m.nodes()) % m.nodes();
        if (m.found[at(node)] == 0) continue;
        choose(c, m, node);
        see(c.view, m, body, {.node = node, .at = {}});
        break;
      }
      break;
    }
    case Key::escape:
      c.view.focus = c.view.focus_chip = -1;
      c.commands.push_back("select none");
      break;
    case Key::w: c.view.forward = !c.view.forward; break;
    case Key::s: c.view.backward = !c.view.backward; break;
    case Key::d:
      c.view.update = !c.view.update;
      break;
    case Key::a:
      c.commands.push_back("neighbours");
      break;
    default: break;
  }
}

void click_bar(GraphChange& c, const GraphModel& m, const Rect& area, const BarItem& item) {
  switch (item.kind) {
    case BarKind::text:
      break;
    case BarKind::whole:
      c.view = fitted(c.view, m, area);
      break;
    case BarKind::node:
      choose(c, m, item.node);
      c.view = fitted_to(c.view, m, area, m.rect(item.node));
      break;
    case BarKind::forward:
      c.view.forward = !c.view.forward;
      break;
    case BarKind::backward:
      c.view.backward = !c.view.backward;
      break;
    case BarKind::update:
      c.view.update = !c.view.update;
      break;
  }
}

// A click in the minimap goes there.
void go_to(GraphView& v, const GraphModel& m, const GraphAreas& a, Point p) {
  const double scale = std::min(a.map.width / std::max(1.0, m.width), a.map.height / std::max(1.0, m.height));
  const Point of_graph{(p.x - a.map.x) / scale, (p.y - a.map.y) / scale};
  v.at = {of_graph.x - a.body.width / 2 / v.zoom, of_graph.y - a.body.height / 2 / v.zoom};
}

}  // namespace

std::optional<GraphStop> neighbour(const GraphModel& m, const GraphView& v, const GraphStop& here, Direction d) {
  const bool along_edges = d == Direction::left || d == Direction::right, forth = d == Direction::right;
  const std::vector<GraphStop> all = stops(m, v);
  std::optional<GraphStop> best;
  double least = std::numeric_limits<double>::infinity();
  const auto look = [&](const GraphStop& other, double distance) {
    if (other == here || distance >= least) return;
    best = other, least = distance;
  };
  const auto chip_of = [&](int edge) {
    return std::find_if(all.begin(), all.end(), [&](const GraphStop& s) { return s.chip >= 0 && m.chip_edge[at(s.chip)] == edge; });
  };
  const auto node_of = [&](int node) {
    return std::find_if(all.begin(), all.end(), [&](const GraphStop& s) { return s.node == node; });
  };
  if (along_edges && here.chip >= 0) {
    const int edge = m.chip_edge[at(here.chip)];
    const auto end = node_of(forth ? m.to[at(edge)] : m.from[at(edge)]);
    return end == all.end() ? std::nullopt : std::optional(*end);
  }
  for (int e = 0; along_edges && e < m.edges(); ++e) {
    if ((forth ? m.from : m.to)[at(e)] != here.node) continue;
    const auto end = node_of((forth ? m.to : m.from)[at(e)]);
    if (end == all.end()) continue;
    const auto chip = chip_of(e);
    const double later = m.next[at(e)] ? 1e6 : 0;  // that of another layer if there is no other
    const double bare = chip == all.end() ? 1e-3 : 0;  // of parallel edges, one with a chip
    look(chip == all.end() ? *end : *chip, std::abs(end->at.y - here.at.y) + later + bare);
  }
  if (best) return best;
  for (const GraphStop& there : all) {
    if ((there.node >= 0) != (here.node >= 0)) continue;
    const double dx = there.at.x - here.at.x, dy = there.at.y - here.at.y;
    const double along = d == Direction::left ? -dx : d == Direction::right ? dx : d == Direction::up ? -dy : dy;
    const double across = std::abs(along_edges ? dy : dx);
    // Chips of one edge stand below each other, in their order.
    if (here.chip >= 0 && m.chip_edge[at(here.chip)] == m.chip_edge[at(there.chip)]) {
      const int down = there.chip - here.chip;
      if ((d == Direction::down && down > 0) || (d == Direction::up && down < 0)) look(there, std::abs(down) * 1e-3);
    } else if (along > 1 && across < 2 * along) {
      look(there, along + 2 * across);
    }
  }
  return best;
}

GraphChange apply(GraphView v, const Input& in, const GraphModel& m, const Rect& area) {
  GraphChange c{std::move(v), {}, -1};
  GraphView& view = c.view;
  const std::optional<Point> before = view.mouse;
  view.mouse = in.mouse;
  const GraphAreas a = areas(m, view, area);
  if (in.wheel != 0 && in.mouse && a.body.contains(*in.mouse)) zoom_about(view, a.body, *in.mouse, std::pow(zoom_step, in.wheel));
  if (in.pressed) view.press = in.mouse, view.dragging = false;
  if (view.press && in.mouse && before) {
    const double moved = std::hypot(in.mouse->x - view.press->x, in.mouse->y - view.press->y);
    const bool starts = !view.dragging && moved >= drag_threshold;
    const Point from = starts ? *view.press : *before;
    view.dragging = view.dragging || starts;
    if (view.dragging && a.map.contains(*view.press))
      go_to(view, m, a, *in.mouse);
    else if (view.dragging)
      view.at = {view.at.x - (in.mouse->x - from.x) / view.zoom, view.at.y - (in.mouse->y - from.y) / view.zoom};
  }
  keep_in_sight(view, m, a.body);
  const GraphHit hit = in.mouse && !view.dragging ? hit_test(m, view, area, *in.mouse) : GraphHit{};
  view.hover = hit.node, view.hover_chip = hit.chip, view.hover_edge = hit.edge;
  if (in.double_click && hit.node >= 0) {
    view.press.reset();
    view.focus = hit.node, view.focus_chip = -1;
    activate(c, m, hit.node);
  }
  if (in.released) {
    if (view.press && !view.dragging && in.mouse) {
      if (a.bar.contains(*in.mouse)) {
        for (const BarItem& item : bar_items(m, view, a.bar))
          if (item.rect.contains(*in.mouse)) {
            click_bar(c, m, area, item);
            break;
          }
      } else if (a.map.contains(*in.mouse)) {
        go_to(view, m, a, *in.mouse);
      } else if (hit.chip >= 0) {
        choose(c, m, {.chip = hit.chip, .at = {}});
      } else if (hit.edge >= 0) {
        c.commands.push_back(m.text(m.edge_command[at(hit.edge)]));
      } else if (hit.node >= 0 && in.shift && view.focus >= 0) {
        c.commands.push_back("path " + quoted_id(m, view.focus) + " " + quoted_id(m, hit.node));
      } else if (hit.node >= 0) {
        choose(c, m, hit.node);
      } else if (a.body.contains(*in.mouse)) {
        view.focus = view.focus_chip = -1;
        c.commands.push_back("select none");
      }
    }
    view.press.reset();
    view.dragging = false;
  }
  for (const Key key : in.keys) press_key(c, key, m, area);
  if (view.focus_chip >= 0 && !chip_shown(m, view, view.focus_chip))  // the keyboard goes on from the edge's begin
    view.focus = m.from[at(m.chip_edge[at(view.focus_chip)])], view.focus_chip = -1;
  keep_in_sight(view, m, a.body);
  return c;
}

namespace {

// The chip that stands at the same place of the edge between the same nodes; -1: there is none.
int same_chip(const GraphModel& before, const GraphModel& now, int chip) {
  if (chip < 0) return -1;
  const int edge = before.chip_edge[at(chip)];
  int place = 0;
  while (chip - place > 0 && before.chip_edge[at(chip - place - 1)] == edge) ++place;
  const int from = now.find(before.text(before.id[at(before.from[at(edge)])]));
  const int to = now.find(before.text(before.id[at(before.to[at(edge)])]));
  for (int c = 0; c < now.chips(); ++c) {
    const int of = now.chip_edge[at(c)];
    if (now.from[at(of)] != from || now.to[at(of)] != to || now.text(now.edge_text[at(of)]) != before.text(before.edge_text[at(edge)])) continue;
    return c + place < now.chips() && now.chip_edge[at(c + place)] == of ? c + place : -1;
  }
  return -1;
}

}  // namespace

GraphView carry_over(const GraphView& before_view, const GraphModel& before, const GraphModel& now, const std::string& kept,
                     const Rect& area) {
  GraphView v = before_view;
  const auto again = [&](int node) { return node < 0 ? -1 : now.find(before.text(before.id[at(node)])); };
  v.focus = again(v.focus);
  v.focus_chip = same_chip(before, now, v.focus_chip);
  if (before_view.focus_chip >= 0 && v.focus_chip < 0)
    v.focus = again(before.from[at(before.chip_edge[at(before_view.focus_chip)])]);
  v.hover = v.hover_chip = v.hover_edge = -1;
  v.marked.clear(), v.marked_edges.clear();
  const Rect body = areas(before, before_view, area).body;
  const Point middle = to_graph(before_view, body, centre(body));
  int from = kept.empty() ? -1 : before.find(kept), to = kept.empty() ? -1 : now.find(kept);
  if (from < 0 || to < 0) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < before.nodes(); ++k) {
      const Point p = centre(before.rect(k));
      const double distance = std::hypot(p.x - middle.x, p.y - middle.y);
      if (distance >= least) continue;
      const int there = again(k);
      if (there >= 0) least = distance, from = k, to = there;
    }
  }
  if (from < 0 || to < 0) return v;
  v.at.x += now.rect(to).x - before.rect(from).x;
  v.at.y += now.rect(to).y - before.rect(from).y;
  return v;
}

}  // namespace planscope::viz
