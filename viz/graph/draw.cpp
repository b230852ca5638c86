#include "viz/graph/draw.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "viz/graph/draw_parts.h"

namespace planscope::viz {

Colour category_colour(int category, const Theme& t) { return t.categories[static_cast<std::size_t>(category) % t.categories.size()]; }

Colour level_colour(ColourKind kind, const Theme& t) {
  switch (kind) {
    case ColourKind::memory: return t.memory;
    case ColourKind::communication: return t.communication;
    default: return t.forward;
  }
}

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr double line_height = 14, corner = 4, band_height = 7;

struct Picture {
  Canvas& canvas;
  const GraphModel& m;
  const GraphView& v;
  const Theme& t;
  const GraphAreas a;
  mutable std::set<int> said_next = {};  // nodes whose edges to the next layer have their word

  bool seen(const Rect& r) const { return !intersection(r, a.body).empty(); }

  Colour tint(int n, Colour ground) const {
    if (m.colour == ColourKind::none) return ground;
    if (m.colour != ColourKind::categories)
      return mix(ground, level_colour(m.colour, t), 0.4 * std::clamp<double>(m.level[at(n)], 0, 1));
    const Span32 span = span_of(m.band_end, n);
    return span.begin == span.end ? ground : mix(ground, category_colour(m.band[at(span.begin)], t), 0.16);
  }

  void outline(int n, const Rect& r, Colour plain) const {
    const bool chosen = v.marked.contains(n) || v.focus == n;
    canvas.stroke(r, chosen ? t.accent : plain, chosen ? 2 : 1, corner);
    if (m.found[at(n)] > 0) canvas.stroke(inset(r, -3), t.warning, 1.5, corner + 2);
  }

  void box(int n) const {
    const Rect r = to_screen(v, a.body, m.rect(n));
    if (!seen(r)) return;
    canvas.fill(r, v.hover == n ? mix(t.background, t.raised, 0.9) : mix(t.background, t.raised, 0.45), corner);
    const bool chosen = v.marked.contains(n) || v.focus == n;
    const Colour line = chosen ? t.accent : mix(t.background, t.dim, 0.7);
    const Point corners[] = {{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}, {r.x, r.y}};
    for (int k = 0; k < 4; ++k) canvas.line(corners[k], corners[k + 1], line, chosen ? 2 : 1, Dash::dashed);
    if (m.found[at(n)] > 0) canvas.stroke(inset(r, -3), t.warning, 1.5, corner + 2);
    if (r.width < 40 || v.zoom < 0.5) return;  // what is in it begins where the title would be
    const double left = std::max(r.x, a.body.x) + 8, room = std::min(r.right(), a.body.right()) - left - 8;
    const std::string title = elided("▾ " + m.text(m.title[at(n)]), TextStyle::strong, Pixels{room});
    canvas.text({left, r.y + 15}, title, TextStyle::strong, t.text);
    const double used = text_width(title, TextStyle::strong).value + 12;
    const Span32 lines = span_of(m.line_end, n);
    if (lines.begin == lines.end) return;
    const std::string about = elided(m.text(m.line[at(lines.begin)]), TextStyle::normal, Pixels{room - used});
    canvas.text({left + used, r.y + 15}, about, TextStyle::normal, t.dim);
  }

  void node(int n) const {
    if (!seen(to_screen(v, a.body, m.rect(n)))) return;
    lane(n);
    const Rect r = to_screen(v, a.body, body_of(m, n));
    const bool folded = m.state_of(n) == NodeState::folded;
    const Rect behind{r.x + 3, r.y - 3, r.width, r.height};
    if (folded && r.height > 10) canvas.stroke(behind, t.dim, 1, corner);  // there is more below
    canvas.fill(r, tint(n, v.hover == n ? mix(t.panel, t.text, 0.08) : t.panel), corner);
    if (r.height > 14) draw_band(canvas, m, n, {r.x + 3, r.bottom() - band_height - 2, r.width - 6, band_height}, t);
    outline(n, r, folded ? t.dim : mix(t.panel, t.dim, 0.6));
    if (v.changed.contains(n)) canvas.fill({r.x, r.y, 4, r.height}, t.accent, 2);
    if (r.height < 13 || r.width < 24) return;
    const Pixels room{r.width - 14};
    double y = r.y + std::min(16.0, r.height * 0.75);
    const std::string title = elided((folded ? "▸ " : "") + m.text(m.title[at(n)]), TextStyle::strong, room);
    canvas.text({r.x + 8, y}, title, TextStyle::strong, t.text);
    const double behind_title = r.x + 8 + text_width(title, TextStyle::strong).value + 6;
    const double end = within(n, {behind_title, r.y + 4, 0, 15}, r.right() - 5) - 4;
    const std::string& kind = m.text(m.kind[at(n)]);
    if (!kind.empty() && behind_title + text_width(kind, TextStyle::small).value <= end)
      canvas.text({behind_title, y}, kind, TextStyle::small, t.dim);
    const Span32 lines = span_of(m.line_end, n);
    for (std::int32_t k = lines.begin; k < std::min(lines.end, lines.begin + 3); ++k) {
      y += line_height;
      if (y + 3 > r.bottom() - (m.colour == ColourKind::none ? 0 : band_height)) break;
      canvas.text({r.x + 8, y}, elided(m.text(m.line[at(k)]), TextStyle::normal, room), TextStyle::normal, t.dim);
    }
  }

  // Below a node, hanging from it: what happens to its parameters, a line each.
  void lane(int n) const {
    const Rect r = to_screen(v, a.body, lane_of(m, v, n));
    if (r.empty()) return;
    canvas.fill(r, t.raised, corner);
    canvas.stroke(r, mix(t.background, t.dim, 0.5), 1, corner);
    const bool text_fits = v.zoom >= graph_lane_zoom;
    const Span32 span = span_of(m.lane_end, n);
    double y = r.y;
    for (std::int32_t k = span.begin; k < span.end; ++k) {
      const auto kind = static_cast<LaneKind>(m.lane_kind[at(k)]);
      if (!lane_shown(v, kind)) continue;
      const bool sent = kind == LaneKind::fetch || kind == LaneKind::gradient;
      const Colour sign = sent ? t.communication : kind == LaneKind::update ? t.update : t.dim;
      canvas.fill({r.x + 6, y + 4 * v.zoom, 5, 9 * std::min(1.0, v.zoom)}, sign, 1);
      y += graph_lane_line * v.zoom;
      if (!text_fits) continue;
      const std::string text = elided(m.text(m.lane_text[at(k)]), TextStyle::small, Pixels{r.width - 20});
      canvas.text({r.x + 15, y}, text, TextStyle::small, sent ? t.text : t.dim);
    }
  }

  // What is communicated in a node, at the right of its title where there is room for it; else a mark. Where it begins.
  double within(int n, Rect r, double right) const {
    const std::string& text = m.text(m.within[at(n)]);
    if (text.empty() || !(v.forward || v.backward)) return right;
    const double width = text_width(text, TextStyle::small).value + 12;
    const bool fits = right - width >= r.x && v.zoom >= graph_text_zoom;
    r.width = fits ? width : 7;
    r.x = right - r.width;
    if (!fits) r.height = 7;
    canvas.fill(r, fits ? mix(t.panel, t.communication, 0.3) : t.communication, fits ? 7 : 3.5);
    if (!fits) return r.x;
    canvas.stroke(r, t.communication, 1, 7);
    canvas.text({r.x + 5, r.y + 11}, text, TextStyle::small, t.text);
    return r.x;
  }

  void head(Point from, Point to, Colour colour) const {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 1e-6 || v.zoom < 0.3) return;
    const double size = 6 * std::min(1.0, v.zoom);
    const double dx = (to.x - from.x) / length * size, dy = (to.y - from.y) / length * size;
    canvas.polyline({{to.x - dx - dy / 2, to.y - dy + dx / 2}, to, {to.x - dx + dy / 2, to.y - dy - dx / 2}}, colour, 1.5);
  }

  void edge(int e, bool talks) const {
    const bool chip_here = v.focus_chip >= 0 && m.chip_edge[at(v.focus_chip)] == e;
    const bool at_focus = chip_here || (v.focus >= 0 && (m.from[at(e)] == v.focus || m.to[at(e)] == v.focus));
    const bool chosen = v.marked_edges.contains(e);
    const bool lit = at_focus || (v.marked.contains(m.from[at(e)]) && v.marked.contains(m.to[at(e)]));
    const Colour colour = chosen ? t.accent : talks ? t.communication : lit ? t.accent : mix(t.background, t.dim, 0.75);
    const double width = chosen ? 2.5 : talks ? 2 : lit ? 1.75 : 1.25;
    const Span32 span = span_of(m.point_end, e);
    if (span.end - span.begin < 2) return ends(e, colour, width);
    std::vector<Point> points;
    Rect around{1e18, 1e18, 0, 0};
    double right = -1e18, bottom = -1e18;
    for (std::int32_t k = span.begin; k < span.end; ++k) {
      points.push_back(to_screen(v, a.body, Point{m.point_x[at(k)], m.point_y[at(k)]}));
      around.x = std::min(around.x, points.back().x), around.y = std::min(around.y, points.back().y);
      right = std::max(right, points.back().x), bottom = std::max(bottom, points.back().y);
    }
    if (!seen({around.x - 2, around.y - 2, right - around.x + 4, bottom - around.y + 4})) return;
    head(points[points.size() - 2], points.back(), colour);
    canvas.polyline(std::move(points), colour, width);
  }

  // To the next of equal layers: where it leaves and where it arrives.
  void ends(int e, Colour colour, double width) const {
    const Rect from = to_screen(v, a.body, body_of(m, m.from[at(e)])),
               to = to_screen(v, a.body, body_of(m, m.to[at(e)]));
    const double reach = 40 * v.zoom;
    const double out = from.y + from.height * 0.75, in = to.y + to.height * 0.25;
    canvas.line({from.right(), out}, {from.right() + reach, out}, colour, width, Dash::dashed);
    head({from.right(), out}, {from.right() + reach, out}, colour);
    canvas.line({to.x - reach, in}, {to.x, in}, colour, width, Dash::dashed);
    head({to.x - reach, in}, {to.x, in}, colour);
    if (v.zoom < graph_text_zoom || !said_next.insert(m.from[at(e)]).second) return;
    canvas.text({from.right() + 4, out + 12}, "next", TextStyle::small, t.dim);
  }

  void chip(int c) const {
    if (!chip_shown(m, v, c)) return;
    const Rect r = chip_rect(m, v, a.body, c);
    if (!seen(r)) return;
    const bool exposed = m.chip_exposed[at(c)];
    if (v.focus_chip == c) canvas.stroke(inset(r, -2), t.accent, 2, 9);
    if (v.zoom < graph_text_zoom) {
      canvas.fill(r, t.communication, r.width / 2);
      return;
    }
    canvas.fill(r, mix(t.background, t.communication, v.hover_chip == c ? 0.4 : 0.22), 8);
    if (!exposed) canvas.hatch(inset(r, 2), mix(t.background, t.communication, 0.32));
    canvas.stroke(r, t.communication, exposed ? 1.5 : 1, 8);
    const auto centred = [&](double y, const std::string& text, TextStyle style, Colour colour) {
      const std::string s = elided(text, style, Pixels{r.width - 8});
      canvas.text({r.x + (r.width - text_width(s, style).value) / 2, y}, s, style, colour);
    };
    centred(r.y + 14, m.text(m.chip_title[at(c)]), TextStyle::normal, t.text);
    centred(r.y + 27, m.text(m.chip_about[at(c)]), TextStyle::small, t.dim);
  }

  void all() const {
    canvas.fill({a.bar.x, a.bar.y, a.bar.width, a.legend.bottom() - a.bar.y}, t.background);
    canvas.push_clip(a.body);
    if (m.nodes() == 0) canvas.text({a.body.x + 16, a.body.y + 28}, m.empty, TextStyle::normal, t.dim);
    for (int n = 0; n < m.nodes(); ++n)
      if (m.state_of(n) == NodeState::expanded) box(n);
    std::vector<char> talks(at(m.edges()), 0);
    for (int c = 0; c < m.chips(); ++c)
      if (chip_shown(m, v, c)) talks[at(m.chip_edge[at(c)])] = 1;
    for (int e = 0; e < m.edges(); ++e)
      if (!talks[at(e)]) edge(e, false);
    for (int e = 0; e < m.edges(); ++e)
      if (talks[at(e)]) edge(e, true);
    for (int n = 0; n < m.nodes(); ++n)
      if (m.state_of(n) != NodeState::expanded) node(n);
    for (int c = 0; c < m.chips(); ++c) chip(c);
    canvas.pop_clip();
    draw_minimap(canvas, m, v, a, t);
    draw_bar(canvas, m, v, a, t);
    draw_legend(canvas, m, a, t);
  }
};

}  // namespace

void draw_graph(Canvas& canvas, const GraphModel& m, const GraphView& v, const Rect& area, const Theme& t) {
  Picture{canvas, m, v, t, areas(m, v, area)}.all();
}

}  // namespace planscope::viz
