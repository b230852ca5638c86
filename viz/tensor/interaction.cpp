#include "viz/tensor/interaction.h"

#include <algorithm>
#include <cmath>

#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {

constexpr double scroll_per_notch = 48;

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

bool holds(const Tile& t, std::int64_t device) {
  return std::any_of(t.devices.begin(), t.devices.end(), [&](const TileDevices& d) { return d.contains(device); });
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string region_text(const TensorModel& m, const Tile& t) {
  std::string out;
  for (std::size_t d = 0; d < t.runs.size(); ++d) {
    out += (d ? ", " : "") + m.dimensions[d].name + " ";
    for (std::size_t k = 0; k < t.runs[d].size() && k < 4; ++k)
      out += (k ? "+" : "") + std::to_string(t.runs[d][k].begin) + ":" + std::to_string(t.runs[d][k].end);
    if (t.runs[d].size() > 4) out += "+…";
    if (t.runs[d].empty()) out += "nothing";
  }
  return out.empty() ? "a single element" : out;
}

// Of a cell of the strip with several devices, that at the share of its width.
std::int64_t device_at(const TensorLayout& l, std::int64_t cell, Point p, std::int64_t devices) {
  const Rect& r = l.cells[static_cast<std::size_t>(cell)];
  const auto within = static_cast<std::int64_t>((p.x - r.x) / r.width * static_cast<double>(l.devices_per_cell));
  return std::min(devices - 1, cell * l.devices_per_cell + std::clamp<std::int64_t>(within, 0, l.devices_per_cell - 1));
}

void look_under_mouse(const TensorLayout& l, TensorView& v, const std::optional<Point>& mouse, std::int64_t devices) {
  v.hover_side = v.hover_tile = v.hover_chip = -1;
  v.hover_device.reset();
  if (!mouse) return;
  for (std::size_t c = 0; c < l.cells.size(); ++c)
    if (l.cells[c].contains(*mouse)) v.hover_device = device_at(l, static_cast<std::int64_t>(c), *mouse, devices);
  if (!l.body.contains(*mouse)) return;
  for (std::size_t c = 0; c < l.chips.size(); ++c)
    if (l.chips[c].rect.contains(*mouse)) v.hover_chip = static_cast<int>(c);
  for (const SidePicture& s : l.sides) {
    for (const TileShape& t : s.tiles) {
      const bool inside = std::any_of(t.rects.begin(), t.rects.end(),
          [&](const Rect& r) { return r.contains(*mouse); });
      if (inside && v.hover_side != s.side) v.hover_side = s.side, v.hover_tile = t.tile;
      if (t.swatch.contains(*mouse)) v.hover_side = s.side, v.hover_tile = t.tile;
    }
    if (s.frame.contains(*mouse) && v.hover_side < 0) v.hover_side = s.side;
  }
}

class Change {
 public:
  Change(TensorView v, const TensorModel& m, const Rect& area) : m_(m), area_(area) { out_.view = std::move(v); }

  TensorAnswer run(const Input& in) {
    TensorView& v = out_.view;
    v.mouse = in.mouse;
    if (in.wheel != 0) v.scroll -= in.wheel * scroll_per_notch;
    clamp();
    look_under_mouse(lay_out(m_, v, area_), v, in.mouse, m_.devices);
    if (in.pressed) v.press = in.mouse, v.slide = slider_at(in.mouse);
    if (v.slide && in.mouse) slide(in.mouse->x, in.released);
    if (in.released) {
      if (!v.slide && v.press && in.mouse && std::hypot(in.mouse->x - v.press->x, in.mouse->y - v.press->y) < 4) click(*in.mouse);
      v.press.reset(), v.slide.reset();
    }
    for (const Key k : in.keys) key(k);
    clamp();
    return std::move(out_);
  }

 private:
  void clamp() {
    const TensorLayout l = lay_out(m_, out_.view, area_);
    out_.view.scroll = std::clamp(out_.view.scroll, 0.0, std::max(0.0, l.content_height - l.body.height));
  }

  void click(Point p) {
    const TensorLayout l = lay_out(m_, out_.view, area_);
    for (const Button& b : l.buttons)
      if (b.rect.contains(p)) return press(b);
    if (l.body.contains(p)) select(out_.view.hover_tile >= 0 ? out_.view.hover_side : -1, out_.view.hover_tile);
  }

  std::optional<int> slider_at(const std::optional<Point>& p) const {
    const std::vector<Slider> all = lay_out(m_, out_.view, area_).sliders;
    for (std::size_t k = 0; p && k < all.size(); ++k)
      if (all[k].track.contains(*p)) return static_cast<int>(k);
    return std::nullopt;
  }

  // What the view has follows at once; what the session has, when it is let go.
  void slide(double x, bool let_go) {
    const std::vector<Slider> all = lay_out(m_, out_.view, area_).sliders;
    if (*out_.view.slide >= static_cast<int>(all.size())) return;
    const Slider& s = at(all, *out_.view.slide);
    if (s.kind == ButtonKind::slice) out_.view.at[static_cast<std::size_t>(s.which)] = index_at(s, x);
    if (s.kind == ButtonKind::index && let_go) go_to_index(s.which, index_at(s, x));
  }

  void press(const Button& b) {
    switch (b.kind) {
      case ButtonKind::gradient: return out_.commands.push_back("gradient");
      case ButtonKind::index: return b.step == 0 ? ask_index() : step_index(b.which, b.step);
      case ButtonKind::slice: return step_slice(b.which, b.step);
      case ButtonKind::dimensions: return other_dimensions();
    }
  }

  void step_index(int axis, int by) {
    const TensorAxis& a = at(m_.axes, axis);
    go_to_index(axis, std::clamp<std::int64_t>(a.index + by, 0, a.size - 1));
  }

  void go_to_index(int axis, std::int64_t next) {
    const TensorAxis& a = at(m_.axes, axis);
    if (next != a.index) out_.commands.push_back("index " + a.name + " " + std::to_string(next));
  }

  // A number: the surface asks for what the command lacks.
  void ask_index() { out_.commands.push_back("index"); }

  void step_slice(int dimension, int by) {
    const std::vector<std::int64_t> all = borders(m_, dimension);
    std::int64_t& now = out_.view.at[static_cast<std::size_t>(dimension)];
    const auto here = std::upper_bound(all.begin(), all.end(), now) - all.begin() - 1;
    now = all[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(here + by, 0, std::ssize(all) - 1))];
  }

  // The next pair of dimensions with several indices.
  void other_dimensions() {
    std::vector<int> all;
    for (int d = 0; d < static_cast<int>(m_.dimensions.size()); ++d)
      if (at(m_.dimensions, d).size > 1) all.push_back(d);
    if (all.size() < 3) return;
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i + 1; j < all.size(); ++j) pairs.push_back({all[i], all[j]});
    const auto now = std::find(pairs.begin(), pairs.end(), std::pair(out_.view.down, out_.view.right));
    const auto next = now == pairs.end() || now + 1 == pairs.end() ? pairs.begin() : now + 1;
    out_.view.down = next->first, out_.view.right = next->second;
  }

  void select(int side, int tile) {
    TensorView& v = out_.view;
    if (v.side == side && v.tile == tile) return;
    v.side = side, v.tile = tile;
    const std::string tensor = "select tensor=" + quoted(m_.name);
    const std::string place = tile < 0 ? "" : at(m_.tiles, tile).place;
    out_.commands.push_back(place.empty() ? tensor : tensor + " place=" + quoted(place));
  }

  void show(int side) {
    const TensorLayout l = lay_out(m_, out_.view, area_);
    for (const SidePicture& s : l.sides) {
      if (s.side != side) continue;
      if (s.frame.y < l.body.y) out_.view.scroll -= l.body.y - s.frame.y;
      if (s.frame.bottom() > l.body.bottom()) out_.view.scroll += s.frame.bottom() - l.body.bottom();
    }
  }

  void next_tile(int by) {
    if (m_.sides.empty()) return;
    const int side = std::max(0, out_.view.side);
    const TensorSide& s = at(m_.sides, side);
    if (s.tiles == 0) return;
    const int here = out_.view.tile < s.first ? (by > 0 ? -1 : s.tiles) : out_.view.tile - s.first;
    select(side, s.first + std::clamp(here + by, 0, s.tiles - 1));
    show(side);
  }

  void next_side(int by) {
    const int count = static_cast<int>(m_.sides.size());
    if (count == 0) return;
    const int side = out_.view.side < 0 ? 0 : std::clamp(out_.view.side + by, 0, count - 1);
    select(side, at(m_.sides, side).tiles > 0 ? at(m_.sides, side).first : -1);
    show(side);
  }

  void key(Key k) {
    const auto slice = [&](int by) {
      for (const Button& b : lay_out(m_, out_.view, area_).buttons)
        if (b.kind == ButtonKind::slice && b.step == by) return step_slice(b.which, by);
    };
    switch (k) {
      case Key::right: return next_tile(1);
      case Key::left: return next_tile(-1);
      case Key::down: return next_side(1);
      case Key::up: return next_side(-1);
      case Key::page_down: return slice(1);
      case Key::page_up: return slice(-1);
      case Key::period: return m_.axes.empty() ? void() : step_index(0, 1);
      case Key::comma: return m_.axes.empty() ? void() : step_index(0, -1);
      case Key::n: return m_.axes.empty() ? void() : ask_index();
      case Key::d: return other_dimensions();
      case Key::f: out_.view.whole = !out_.view.whole; return;
      case Key::escape: return select(-1, -1);
      case Key::home: {
        TensorView first = first_view(m_);
        first.marked_sides = out_.view.marked_sides, first.marked_tiles = out_.view.marked_tiles;
        out_.view = std::move(first);
        return;
      }
      default: return;
    }
  }

  const TensorModel& m_;
  const Rect area_;
  TensorAnswer out_;
};

}  // namespace

TensorAnswer apply(TensorView v, const Input& in, const TensorModel& m, const Rect& area) {
  return Change(std::move(v), m, area).run(in);
}

TensorView carry_over(TensorView v, const TensorModel& before, const TensorModel& now) {
  TensorView out = first_view(now);
  out.marked_sides = v.marked_sides, out.marked_tiles = v.marked_tiles;
  const auto same = [](const TensorDimension& a, const TensorDimension& b) {
    return a.name == b.name && a.size == b.size;
  };
  const bool alike = std::equal(before.dimensions.begin(), before.dimensions.end(), now.dimensions.begin(),
      now.dimensions.end(), same);
  if (before.name != now.name || !alike) return out;
  if (v.at.size() == now.dimensions.size()) out.down = v.down, out.right = v.right, out.at = v.at, out.whole = v.whole;
  out.scroll = v.scroll;
  const auto side = static_cast<std::size_t>(std::max(0, v.side));
  if (v.side >= 0 && v.tile >= 0 && side < now.sides.size()) {
    const TensorSide& s = now.sides[side];
    const int offset = v.tile - before.sides[side].first;
    if (offset < s.tiles) out.side = v.side, out.tile = s.first + offset;
  }
  return out;
}

std::vector<std::string> tooltip(const TensorModel& m, const TensorView& v) {
  if (v.hover_device) {
    std::vector<std::string> lines = {"device " + std::to_string(*v.hover_device)};
    for (const TensorSide& s : m.sides)
      for (int t = s.first; t < s.first + s.tiles; ++t)
        if (holds(at(m.tiles, t), *v.hover_device)) lines.push_back(s.title + ": " + region_text(m, at(m.tiles, t)));
    if (lines.size() > 12) lines.resize(12);
    return lines;
  }
  if (v.hover_tile < 0) return {};
  const Tile& t = at(m.tiles, v.hover_tile);
  std::vector<std::string> lines = {at(m.sides, v.hover_side).title,
                                    (t.count == 1 ? "device " : std::to_string(t.count) + " devices: ") +
                                        t.devices_text};
  if (!t.place.empty()) lines.push_back("at " + t.place);
  lines.push_back(region_text(m, t));
  if (t.part >= 0)
    lines.push_back("part " + std::to_string(t.part + 1) +
        (t.part_last > t.part ? " to " + std::to_string(t.part_last + 1) : "") + " of " +
                    std::to_string(t.part_of) + " of the value (" + t.part_kind + ")");
  if (!t.keys.empty()) lines.push_back(t.keys);
  if (t.blocks > 1) lines.push_back(std::to_string(t.blocks) + " blocks, drawn as one");
  return lines;
}

}  // namespace planscope::viz
