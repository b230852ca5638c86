#include "viz/graph/draw_parts.h"

#include <algorithm>

namespace planscope::viz {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

void draw_band(Canvas& canvas, const GraphModel& m, int node, const Rect& r, const Theme& t) {
  if (m.colour == ColourKind::none) return;
  if (m.colour != ColourKind::categories) {
    const double level = std::clamp(static_cast<double>(m.level[at(node)]), 0.0, 1.0);
    if (level > 0) canvas.fill({r.x, r.y, std::max(1.0, r.width * level), r.height}, level_colour(m.colour, t));
    return;
  }
  const Span32 span = span_of(m.band_end, node);
  double x = r.x;
  for (std::int32_t k = span.begin; k < span.end; ++k) {
    const double width = r.width * m.band_share[at(k)];
    const Rect part{x, r.y, width, r.height};
    canvas.fill(part, category_colour(m.band[at(k)], t));
    canvas.hatch(part, t.background, category_hatch(m.band[at(k)]));
    x += width;
  }
}

void draw_bar(Canvas& canvas, const GraphModel& m, const GraphView& v, const GraphAreas& a, const Theme& t) {
  canvas.fill(a.bar, t.raised);
  canvas.push_clip(a.bar);
  for (const BarItem& item : bar_items(m, v, a.bar)) {
    const bool under = item.kind != BarKind::text && v.mouse && item.rect.contains(*v.mouse);
    const Point base{item.rect.x, item.rect.y + 17};
    canvas.text(base, item.text, item.strong ? TextStyle::strong : TextStyle::normal,
                item.strong || under ? t.text : t.dim);
    if (under) canvas.line({base.x, base.y + 3}, {item.rect.right(), base.y + 3}, t.accent);
  }
  canvas.pop_clip();
}

void draw_legend(Canvas& canvas, const GraphModel& m, const GraphAreas& a, const Theme& t) {
  if (a.legend.empty()) return;
  canvas.fill(a.legend, t.raised);
  canvas.push_clip(a.legend);
  double x = a.legend.x + 10;
  const double base = a.legend.y + 16;
  const auto word = [&](const std::string& text, Colour colour) {
    canvas.text({x, base}, text, TextStyle::normal, colour);
    x += text_width(text, TextStyle::normal).value;
  };
  word("colour: " + m.colour_name, t.dim);
  x += 16;
  if (m.colour != ColourKind::categories) {
    word("0", t.dim);
    x += 6;
    constexpr double width = 80;
    canvas.stroke({x, a.legend.y + 7, width, 10}, t.dim);
    for (int k = 1; k <= 4; ++k)
      canvas.fill({x + (k - 1) * width / 4, a.legend.y + 7, width / 4, 10}, with_alpha(level_colour(m.colour, t), 0.25 * k));
    x += width + 6;
    word(m.most, t.dim);
  }
  for (int c = 0; c < static_cast<int>(m.category.size()) && m.colour == ColourKind::categories; ++c) {
    const std::string& text = m.text(m.category[at(c)]);
    const bool last = c + 1 == static_cast<int>(m.category.size());
    if (x + 28 + text_width(text, TextStyle::normal).value > a.legend.right() - 60 && !last) {
      word(std::to_string(m.category.size() - at(c)) + " more", t.dim);
      break;
    }
    const Rect sign{x, a.legend.y + 5, 14, 14};
    canvas.fill(sign, category_colour(c, t));
    canvas.hatch(sign, t.background, category_hatch(c));
    x += 19;
    word(text, t.text);
    x += 14;
  }
  canvas.pop_clip();
}

void draw_minimap(Canvas& canvas, const GraphModel& m, const GraphView& v, const GraphAreas& a, const Theme& t) {
  if (a.map.empty()) return;
  canvas.fill(inset(a.map, -4), with_alpha(t.background, 0.92), 4);
  canvas.stroke(inset(a.map, -4), t.grid, 1, 4);
  canvas.push_clip(a.map);
  const double scale = std::min(a.map.width / std::max(1.0, m.width), a.map.height / std::max(1.0, m.height));
  for (int n = 0; n < m.nodes(); ++n) {
    const Rect r = m.rect(n);
    const Rect small{a.map.x + r.x * scale, a.map.y + r.y * scale, std::max(1.5, r.width * scale),
                     std::max(1.5, r.height * scale)};
    if (m.state_of(n) == NodeState::expanded)
      canvas.stroke(small, t.grid);
    else
      canvas.fill(small, t.dim);
  }
  const double per_pixel = scale / v.zoom;
  const Rect seen = intersection({a.map.x + v.at.x * scale, a.map.y + v.at.y * scale, a.body.width * per_pixel,
                                  a.body.height * per_pixel}, a.map);
  if (!seen.empty()) canvas.stroke(seen, t.accent);
  canvas.pop_clip();
}

}  // namespace planscope::viz
