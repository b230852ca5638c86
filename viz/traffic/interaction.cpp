#include "viz/traffic/interaction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {

constexpr double per_notch = 0.8, scroll_per_notch = 48, drag_threshold = 4;

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

class Change {
 public:
  Change(TrafficView v, const TrafficModel& m, const Rect& area) : m_(m), area_(area) { out_.view = std::move(v); }

  TrafficAnswer run(const Input& in) {
    TrafficView& v = out_.view;
    const std::optional<Point> before = v.mouse;
    v.mouse = in.mouse;
    if (in.wheel != 0) wheel(in);
    if (in.pressed) press(in.mouse);
    if (v.press && in.mouse && before) drag(*before, *in.mouse);
    const TrafficLayout l = lay_out(m_, v, area_);
    v.hover = in.mouse && !v.dragging ? cell_at(m_, l, *in.mouse) : std::nullopt;
    v.hover_communicator = -1;
    for (std::size_t k = 0; in.mouse && l.list.contains(*in.mouse) && k < l.communicators.size(); ++k)
      if (l.communicators[k].contains(*in.mouse)) v.hover_communicator = static_cast<int>(k);
    if (in.released) {
      if (v.range_chart)
        range(l, in.mouse);
      else if (v.press && !v.dragging && in.mouse)
        click(l, *in.mouse);
      v.range_chart.reset();
      v.press.reset();
      v.dragging = false;
    }
    for (const Key k : in.keys) key(k);
    const TrafficLayout now = lay_out(m_, v, area_);
    v.from_row = now.from_row, v.to_row = now.to_row;
    v.scroll = std::clamp(v.scroll, 0.0, std::max(0.0, now.list_height - now.list.height));
    return std::move(out_);
  }

 private:
  double count() const { return static_cast<double>(std::max<std::size_t>(1, m_.rows.size())); }

  void press(const std::optional<Point>& p) {
    TrafficView& v = out_.view;
    v.press = p, v.dragging = false;
    v.range_chart.reset();
    const TrafficLayout l = lay_out(m_, v, area_);
    for (std::size_t k = 0; p && k < l.links.size(); ++k)
      if (l.links[k].contains(*p)) v.range_chart = static_cast<int>(k);
  }

  void range(const TrafficLayout& l, const std::optional<Point>& p) {
    const TrafficView& v = out_.view;
    if (!p || !v.press || static_cast<std::size_t>(*v.range_chart) >= l.links.size()) return;
    if (std::abs(p->x - v.press->x) < drag_threshold) return click_link(*v.range_chart);
    const Rect& chart = l.links[static_cast<std::size_t>(*v.range_chart)];
    const double a = time_at(m_, chart, v.press->x).value, b = time_at(m_, chart, p->x).value;
    char line[96];
    std::snprintf(line, sizeof line, "brush time=%.3f..%.3f", std::min(a, b), std::max(a, b));
    if (std::max(a, b) - std::min(a, b) >= 0.001) out_.commands.push_back(line);
  }

  // The whole step again, where a part of it is shown; else what is sent over the link.
  void click_link(int link) {
    const bool is_selected = out_.view.marked_links.contains(link);
    if (m_.range_to > m_.range_from)
      out_.commands.push_back("brush time=\"\"");
    else
      out_.commands.push_back(is_selected ? "select none" : "select link=\"" + at(m_.links, link).name + "\"");
  }

  void wheel(const Input& in) {
    const TrafficLayout l = lay_out(m_, out_.view, area_);
    if (in.mouse && l.matrix.contains(*in.mouse))
      zoom(std::pow(per_notch, in.wheel), (in.mouse->y - l.matrix.y) / l.matrix.height,
          (in.mouse->x - l.matrix.x) / l.matrix.width);
    else
      out_.view.scroll -= in.wheel * scroll_per_notch;
  }

  // What lies at these shares of the matrix keeps its place.
  void zoom(double factor, double down, double right) {
    TrafficView& v = out_.view;
    const TrafficLayout l = lay_out(m_, v, area_);
    const double rows = std::clamp(l.rows * factor, std::min(4.0, count()), count());
    v.from_row = l.from_row + (l.rows - rows) * down;
    v.to_row = l.to_row + (l.rows - rows) * right;
    v.rows = rows >= count() ? 0 : rows;
  }

  void drag(Point before, Point now) {
    TrafficView& v = out_.view;
    const TrafficLayout l = lay_out(m_, v, area_);
    if (!l.matrix.contains(*v.press)) return;
    const bool starts = !v.dragging && std::hypot(now.x - v.press->x, now.y - v.press->y) >= drag_threshold;
    const Point from = starts ? *v.press : before;
    v.dragging = v.dragging || starts;
    if (!v.dragging) return;
    v.from_row = l.from_row - (now.y - from.y) / l.cell;
    v.to_row = l.to_row - (now.x - from.x) / l.cell;
  }

  void click(const TrafficLayout& l, Point p) {
    TrafficView& v = out_.view;
    if (v.hover_communicator >= 0) return show_alone(v.only == v.hover_communicator ? -1 : v.hover_communicator);
    for (std::size_t k = 0; k < l.choices.size(); ++k) {
      const TrafficLayout::Choice& c = l.choices[k];
      if (!c.rect.contains(p)) continue;
      if (c.command.empty())
        v.measure = static_cast<Measure>(k);
      else
        out_.commands.push_back(c.command);
      return;
    }
    if (l.matrix.contains(p)) select(v.hover);
  }

  void select(std::optional<std::pair<int, int>> cell) {
    TrafficView& v = out_.view;
    if (v.selection == cell) return;
    const bool other_row = !cell || !v.selection || v.selection->first != cell->first;
    v.selection = cell;
    if (!other_row) return;
    if (!cell)
      out_.commands.push_back("select none");
    else if (const std::string& place = at(m_.places, cell->first); !place.empty())
      out_.commands.push_back("select place=\"" + place + "\"");
  }

  // One communicator, or all again; it is selected too.
  void show_alone(int communicator) {
    TrafficView& v = out_.view;
    if (v.only == communicator) return;
    v.only = communicator;
    const std::string name = communicator < 0 ? "" : at(m_.communicators, communicator).name;
    out_.commands.push_back(name.empty() ? "select none" : "select communicator=\"" + name + "\"");
  }

  void move(int down, int right) {
    const int last = static_cast<int>(m_.rows.size()) - 1;
    if (last < 0) return;
    const std::pair<int, int> now = out_.view.selection.value_or(std::pair(0, 0));
    const std::pair moved(std::clamp(now.first + down, 0, last), std::clamp(now.second + right, 0, last));
    const std::pair<int, int> next = out_.view.selection ? moved : now;
    select(next);
    TrafficView& v = out_.view;
    const TrafficLayout l = lay_out(m_, v, area_);
    v.from_row = std::clamp(l.from_row, next.first + 1 - l.rows, static_cast<double>(next.first));
    v.to_row = std::clamp(l.to_row, next.second + 1 - l.rows, static_cast<double>(next.second));
  }

  void next_communicator(int by) {
    const int last = static_cast<int>(m_.communicators.size()) - 1;
    show_alone(std::clamp(out_.view.only + by, -1, last));
    if (out_.view.only < 0) return;
    const TrafficLayout l = lay_out(m_, out_.view, area_);
    const Rect& r = at(l.communicators, out_.view.only);
    if (r.y < l.list.y) out_.view.scroll -= l.list.y - r.y;
    if (r.bottom() > l.list.bottom()) out_.view.scroll += r.bottom() - l.list.bottom();
  }

  void key(Key k) {
    TrafficView& v = out_.view;
    switch (k) {
      case Key::w:
      case Key::plus: return zoom(per_notch, 0.5, 0.5);
      case Key::s:
      case Key::minus: return zoom(1 / per_notch, 0.5, 0.5);
      case Key::up: return move(-1, 0);
      case Key::down: return move(1, 0);
      case Key::left: return move(0, -1);
      case Key::right: return move(0, 1);
      case Key::page_up: return next_communicator(-1);
      case Key::page_down: return next_communicator(1);
      case Key::m:
        v.measure = static_cast<Measure>((static_cast<int>(v.measure) + 1) % 3);
        return;
      case Key::f:
      case Key::home: v.rows = v.from_row = v.to_row = 0, v.only = -1; return;
      case Key::escape: return select(std::nullopt);
      default: return;
    }
  }

  const TrafficModel& m_;
  const Rect area_;
  TrafficAnswer out_;
};

std::string number(double n) { return std::to_string(static_cast<long long>(std::llround(n))); }

}  // namespace

TrafficAnswer apply(TrafficView v, const Input& in, const TrafficModel& m, const Rect& area) {
  return Change(std::move(v), m, area).run(in);
}

TrafficView carry_over(TrafficView v, const TrafficModel& before, const TrafficModel& now) {
  v.hover.reset();
  v.hover_communicator = -1;
  if (before.rows != now.rows) v.selection.reset(), v.rows = v.from_row = v.to_row = 0;
  if (v.only < 0) return v;
  const TrafficGroup& old = at(before.communicators, v.only);
  const auto same = std::find_if(now.communicators.begin(), now.communicators.end(), [&](const TrafficGroup& g) {
    return g.kind == old.kind && g.over == old.over && g.size == old.size;
  });
  v.only = same == now.communicators.end() ? -1 : static_cast<int>(same - now.communicators.begin());
  return v;
}

std::vector<std::string> tooltip(const TrafficModel& m, const TrafficView& v) {
  if (v.hover_communicator >= 0) {
    const TrafficGroup& g = at(m.communicators, v.hover_communicator);
    return {g.kind + " over " + g.over, "devices " + g.devices + ", " + std::to_string(g.groups) + " groups of " +
        std::to_string(g.size),
            (g.count == 1 ? "once" : std::to_string(g.count) + " times") + ", " + format_bytes(g.bytes) + " a device, over " + g.level,
            "busy " + format_time(g.busy) + (g.exposed.value < 0 ? "" : ", exposed " + format_time(g.exposed)),
            "from " + format_time(g.first) + " to " + format_time(g.last)};
  }
  if (!v.hover) return {};
  const auto [from, to] = *v.hover;
  const std::string devices = m.devices_per_row == 1 ? "device " : "devices ";
  std::vector<std::string> lines = {devices + at(m.row_devices, from) + " to " + devices + at(m.row_devices, to)};
  double all = 0;
  for (std::size_t k = 0; k < m.from.size(); ++k) {
    if (m.from[k] != from || m.to[k] != to || (v.only >= 0 && m.communicator[k] != v.only)) continue;
    const TrafficGroup& g = at(m.communicators, m.communicator[k]);
    all += value_of(m, v.measure, k);
    if (lines.size() < 9)
      lines.push_back(g.kind + " over " + g.over + ": " + format_bytes({m.bytes[k]}) + " in " + number(m.messages[k]) +
                      " messages, " + format_time({m.time[k]}));
  }
  lines.insert(
      lines.begin() + 1,
      all > 0 ? value_text(v.measure, all) + (m.shown.empty() ? " in a step" : ", of what is shown") : "nothing");
  return lines;
}

}  // namespace planscope::viz
