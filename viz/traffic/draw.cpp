#include "viz/traffic/draw.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

struct Picture {
  Canvas& canvas;
  const TrafficModel& model;
  const TrafficView& view;
  const Theme& theme;
  const TrafficLayout layout;
  const std::vector<std::string> all_kinds;

  void text(double x, double y, const std::string& s, double room, Colour c, TextStyle style = TextStyle::small) const {
    const std::string fitting = elided(s, style, Pixels{room});
    if (!fitting.empty()) canvas.text({x, y}, fitting, style, c);
  }

  // A kind has a colour and a hatch, so that it is told from others in grey too.
  std::size_t place(const std::string& kind) const {
    return static_cast<std::size_t>(std::find(all_kinds.begin(), all_kinds.end(), kind) - all_kinds.begin());
  }
  Colour colour(std::size_t kind) const { return theme.categories[kind % theme.categories.size()]; }
  Hatch hatch(std::size_t kind) const { return static_cast<Hatch>(kind % hatch_count); }

  void swatch(const Rect& r, std::size_t kind) const {
    canvas.fill(r, colour(kind), 2);
    canvas.hatch(r, theme.background, hatch(kind));
  }

  void matrix() const {
    const TrafficSums all = sums(model, view);
    const Rect& m = layout.matrix;
    const std::size_t n = model.rows.size();
    canvas.fill(m, theme.raised);
    canvas.push_clip(m);
    const double gap = layout.cell >= 6 ? 1 : 0;
    const int first_from = static_cast<int>(std::floor(layout.from_row)),
        first_to = static_cast<int>(std::floor(layout.to_row));
    for (int i = first_from; i < static_cast<int>(n) && i < layout.from_row + layout.rows; ++i)
      for (int j = first_to; j < static_cast<int>(n) && j < layout.to_row + layout.rows; ++j) {
        const std::size_t k = static_cast<std::size_t>(i) * n + static_cast<std::size_t>(j);
        if (all.most[k] < 0) continue;
        const double share = all.largest > 0 ? std::sqrt(all.value[k] / all.largest) : 0;  // small ones stay visible
        const std::size_t kind = place(at(model.communicators, all.most[k]).kind);
        canvas.fill(cell(i, j, gap), mix(theme.raised, colour(kind), 0.25 + 0.75 * share));
        if (gap > 0) canvas.hatch(cell(i, j, gap), theme.raised, hatch(kind));
      }
    for (int i = 0; i < static_cast<int>(n); ++i)
      if (view.marked.contains(at(model.rows, i))) {
        const Rect row = cell(i, 0, 0);
        canvas.stroke({m.x, row.y, m.width, row.height}, theme.accent);
      }
    // What is marked of the communication; where all of it is, that says nothing.
    if (view.marked_communicators.size() < model.communicators.size())
      for (std::size_t k = 0; k < model.from.size(); ++k)
        if (view.marked_communicators.contains(model.communicator[k]))
          canvas.stroke(cell(model.from[k], model.to[k], 0), theme.accent);
    if (view.hover) cross(*view.hover, with_alpha(theme.outline, 0.5));
    if (view.selection) cross(*view.selection, theme.accent);
    canvas.pop_clip();
    canvas.stroke(m, theme.grid);
  }

  Rect cell(int from, int to, double gap) const {
    return {layout.matrix.x + (to - layout.to_row) * layout.cell, layout.matrix.y +
        (from - layout.from_row) * layout.cell,
            std::max(1.0, layout.cell - gap), std::max(1.0, layout.cell - gap)};
  }

  void cross(std::pair<int, int> c, Colour colour) const {
    const Rect r = cell(c.first, c.second, 0);
    canvas.stroke({layout.matrix.x, r.y, layout.matrix.width, r.height}, with_alpha(colour, 0.35));
    canvas.stroke({r.x, layout.matrix.y, r.width, layout.matrix.height}, with_alpha(colour, 0.35));
    canvas.stroke(r, colour, 2);
  }

  void labels() const {
    const Rect& m = layout.matrix;
    constexpr const char* named[] = {"bytes from device to device", "messages from device to device",
                                     "time that a device sends to another one"};
    const std::string what = named[static_cast<std::size_t>(view.measure)];
    text(layout.area.x + 12, layout.area.y + 16, what, m.right() - layout.area.x, theme.text, TextStyle::strong);
    std::vector<std::string> names;  // of a range, where it begins
    for (const std::string& row : model.rows) names.push_back(row.substr(0, row.find("–")));
    double widest = 0;
    for (const std::string& name : names) widest = std::max(widest, text_width(name, TextStyle::small).value);
    const int step_down = std::max(1, static_cast<int>(std::ceil(13 / layout.cell)));
    const int step_right = std::max(1, static_cast<int>(std::ceil((widest + 6) / layout.cell)));
    const int count = static_cast<int>(model.rows.size());
    for (int i = 0; i < count; ++i) {
      const double x = m.x + (i + 0.5 - layout.to_row) * layout.cell;
      const double y = m.y + (i + 0.5 - layout.from_row) * layout.cell;
      // Where there is no room, the class stands for its rows: `pipe=0` for `pipe=0 2/4`.
      std::string name = at(names, i);
      if (text_width(name, TextStyle::small).value > 46) name = name.substr(0, name.find(' '));
      const double width = text_width(name, TextStyle::small).value;
      if (i % step_down == 0 && y > m.y && y < m.bottom())
        text(m.x - 5 - std::min(width, 44.0), y + 4, name, 46, theme.dim);
      if (i % step_right == 0 && x > m.x && x < m.right())
        canvas.text({x - width / 2, m.y - 5}, name, TextStyle::small, theme.dim);
    }
    std::string below = "from ↓ to →";
    if (model.devices_per_row > 1)
      below += "   a row is " + std::to_string(model.devices_per_row) + " devices of " + std::to_string(model.devices);
    if (view.only >= 0)
      below += "   " + at(model.communicators, view.only).kind + " over " + at(model.communicators, view.only).over +
          " alone";
    text(m.x, m.bottom() + 14, below, m.width, theme.dim);
    for (const TrafficLayout::Choice& c : layout.choices) {
      const bool hover = view.mouse && c.rect.contains(*view.mouse);
      canvas.fill(c.rect, hover ? theme.panel : theme.raised, 4);
      if (c.on) canvas.stroke(c.rect, theme.accent, 1, 4);
      if (c.kind >= 0) swatch({c.rect.x + 4, c.rect.y + 3, 12, 12}, static_cast<std::size_t>(c.kind));
      const double x = c.rect.x + (c.kind < 0 ? 7 : 19);
      text(x, c.rect.y + 13, c.text, c.rect.right() - x - 1, c.on ? theme.text : theme.dim);
    }
  }

  void chart(std::size_t k) const {
    const TrafficLink& l = model.links[k];
    const Rect& r = layout.links[k];
    const double interval = model.duration.value / static_cast<double>(std::max<std::size_t>(1, l.bytes.size()));
    const double full = l.bandwidth * interval * 1e-6;  // bytes that an interval can carry
    const double most = l.bytes.empty() ? 0 : *std::max_element(l.bytes.begin(), l.bytes.end());
    const bool low = most < full / 8;  // drawn larger, without the line of the bandwidth
    const double top = low ? most * 1.1 : std::max(full, most);
    char head[160];
    std::snprintf(head, sizeof head, "%s, %.3g GB/s for a device, at most %.3g %% used%s", l.name.c_str(),
        l.bandwidth / 1e9,
                  full > 0 ? 100 * most / full : 0, low && most > 0 ? ", drawn larger" : "");
    text(r.x, r.y - 4, head, r.width, theme.text);
    canvas.fill(r, theme.raised);
    if (view.marked_links.contains(static_cast<int>(k))) canvas.stroke(inset(r, -2), theme.accent, 2);
    const double width = r.width / static_cast<double>(std::max<std::size_t>(1, l.bytes.size()));
    for (std::size_t i = 0; i < l.bytes.size() && top > 0; ++i) {
      const double height = l.bytes[i] / top * (r.height - 2);
      if (height > 0)
        canvas.fill({r.x + static_cast<double>(i) * width, r.bottom() - std::max(1.0, height), std::max(1.0, width),
            std::max(1.0, height)}, theme.communication);
    }
    if (full > 0 && !low) {
      const double y = std::round(r.bottom() - full / top * (r.height - 2));
      canvas.line({r.x, y}, {r.right(), y}, theme.capacity, 1, Dash::dashed);
    }
    int only = view.only >= 0 ? view.only : view.hover_communicator;
    for (const int marked : view.marked_communicators)
      if (only < 0 && marked < static_cast<int>(model.communicators.size()) && view.marked_communicators.size() == 1)
        only = marked;
    // from its first to its last
    if (only >= 0 && at(model.communicators, only).level == l.name && model.duration.value > 0) {
      const TrafficGroup& g = at(model.communicators, only);
      const double x = r.x + g.first.value / model.duration.value * r.width;
      const double end = r.x + g.last.value / model.duration.value * r.width;
      canvas.stroke({x, r.y, std::max(2.0, end - x), r.height}, theme.accent);
    }
    double begin = model.range_from.value, end_of_range = model.range_to.value;
    if (view.range_chart == static_cast<int>(k) && view.press && view.mouse) {
      const double a = time_at(model, r, view.press->x).value, b = time_at(model, r, view.mouse->x).value;
      begin = std::min(a, b), end_of_range = std::max(a, b);
    }
    if (end_of_range > begin && model.duration.value > 0) {
      const double x = r.x + begin / model.duration.value * r.width;
      const Rect range{x, r.y, std::max(1.0, (end_of_range - begin) / model.duration.value * r.width), r.height};
      canvas.fill(range, with_alpha(theme.accent, 0.18));
      canvas.stroke(range, theme.accent);
    }
    text(r.x, r.bottom() + 10, "0", 40, theme.dim);
    const std::string end = format_time(model.duration);
    canvas.text({r.right() - text_width(end, TextStyle::small).value, r.bottom() + 10}, end, TextStyle::small,
        theme.dim);
  }

  void list() const {
    canvas.push_clip(layout.list);
    for (std::size_t k = 0; k < layout.communicators.size(); ++k) {
      const Rect& r = layout.communicators[k];
      if (r.bottom() < layout.list.y || r.y > layout.list.bottom()) continue;
      const TrafficGroup& g = model.communicators[k];
      const bool only = view.only == static_cast<int>(k);
      if (only || view.hover_communicator == static_cast<int>(k)) canvas.fill(r, theme.raised, 4);
      if (only || view.marked_communicators.contains(static_cast<int>(k))) canvas.stroke(r, theme.accent, 1, 4);
      swatch({r.x + 5, r.y + 4, 12, 12}, place(g.kind));
      std::string right = format_bytes(g.bytes);
      const double width = text_width(right, TextStyle::normal).value;
      text(r.x + 22, r.y + 14, g.kind + " over " + g.over, r.width - width - 36, theme.text, TextStyle::normal);
      canvas.text({r.right() - width - 6, r.y + 14}, right, TextStyle::normal, theme.text);
      std::string second = std::to_string(g.groups) + (g.groups == 1 ? " group of " : " groups of ") +
          std::to_string(g.size) + " · " +
                           (g.count == 1 ? "once" : std::to_string(g.count) + " times") + " · " + g.level + " · busy " + format_time(g.busy);
      if (g.exposed.value >= 0) second += g.exposed.value > 0 ? " · exposed " + format_time(g.exposed) : " · hidden";
      text(r.x + 22, r.y + 27, second, r.width - 30, theme.dim);
    }
    if (model.communicators.empty())
      text(layout.list.x, layout.list.y + 14, "No device sends anything to another one.", layout.list.width, theme.dim,
          TextStyle::normal);
    if (layout.list_height > layout.list.height && layout.list.height > 0) {
      const double share = layout.list.height / layout.list_height;
      canvas.fill({layout.list.right() - 3, layout.list.y + view.scroll * share, 3, layout.list.height * share},
          with_alpha(theme.dim, 0.5), 2);
    }
    canvas.pop_clip();
  }

  void draw() const {
    canvas.push_clip(layout.area);
    labels();
    matrix();
    if (!model.links.empty())
      text(layout.links[0].x, layout.area.y + 16, "links over time, of the device that sends most",
          layout.links[0].width, theme.text, TextStyle::strong);
    for (std::size_t k = 0; k < model.links.size(); ++k) chart(k);
    list();
    canvas.pop_clip();
  }
};

}  // namespace

void draw_traffic(Canvas& canvas, const TrafficModel& model, const TrafficView& view, const Rect& area,
    const Theme& theme) {
  Picture{canvas, model, view, theme, lay_out(model, view, area), kinds(model)}.draw();
}

}  // namespace planscope::viz
