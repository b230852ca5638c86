#include "viz/tensor/layout.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "viz/canvas/text.h"

namespace planscope::viz {

namespace {

constexpr double margin = 12, header_height = 30, strip_height = 46, caption = 44, below = 18, gap = 14;
constexpr double least_height = 132, most_height = 320;  // of a side's picture
constexpr double chip_height = 30, chip_gap = 6, refused_line = 13, swatch = 12;
constexpr std::int64_t most_cells = 64;
constexpr std::size_t most_rects = 1024;

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

bool cut(const TensorModel& m, int d) {
  return std::any_of(m.tiles.begin(), m.tiles.end(), [&](const Tile& t) {
    const auto& runs = at(t.runs, d);
    return runs.size() != 1 || runs[0].begin != 0 || runs[0].end != at(m.dimensions, d).size;
  });
}

double chips_height(const TensorSide& s) {
  return static_cast<double>(s.moves.size()) * (chip_height + chip_gap) +
         static_cast<double>(refused_lines(s).size()) * refused_line + 8;
}

double side_height(const TensorSide& s, double picture) {
  return std::max(caption + picture + below, caption + chips_height(s));
}

// Readers in the order of their writers, each with its height.
std::vector<int> readers_of(const TensorModel& m, int writer) {
  std::vector<int> out;
  for (int k = 0; k < static_cast<int>(m.sides.size()); ++k)
    if (at(m.sides, k).writer == writer) out.push_back(k);
  return out;
}

// Few sides are drawn larger, as far as there is room for all.
double picture_height(const TensorModel& m, const TensorView& v, double room) {
  if (v.down < 0) return 44;
  double rows = 0;
  for (int w = 0; w < static_cast<int>(m.sides.size()); ++w)
    if (at(m.sides, w).writer < 0) rows += static_cast<double>(std::max<std::size_t>(1, readers_of(m, w).size()));
  return std::clamp(room / std::max(1.0, rows) - caption - below - gap - 4, least_height, most_height);
}

struct Extent {
  double from, to;
};

// Of a tile along a dimension, as shares of what is drawn.
std::vector<Extent> extents(const TensorModel& m, const TensorView& v, const Tile& t, int d) {
  if (d < 0) return {{0, 1}};
  const TileRun all = drawn(m, v, d);
  const auto size = static_cast<double>(std::max<std::int64_t>(1, all.end - all.begin));
  std::vector<Extent> out;
  for (const TileRun& r : at(t.runs, d))
    out.push_back({static_cast<double>(r.begin - all.begin) / size, static_cast<double>(r.end - all.begin) / size});
  return out;
}

bool seen(const TensorModel& m, const TensorView& v, const Tile& t) {
  for (int d = 0; d < static_cast<int>(m.dimensions.size()); ++d) {
    if (d == v.down || d == v.right) continue;
    const std::int64_t index = static_cast<std::size_t>(d) < v.at.size() ? at(v.at, d) : 0;
    const auto holds = [&](const TileRun& r) { return r.begin <= index && index < r.end; };
    if (std::none_of(at(t.runs, d).begin(), at(t.runs, d).end(), holds)) return false;
  }
  return true;
}

bool empty(const Tile& t) {
  return std::any_of(t.runs.begin(), t.runs.end(), [](const auto& r) { return r.empty(); });
}

bool same_place(const Tile& a, const Tile& b) {
  const auto same = [](const TileRun& x, const TileRun& y) { return x.begin == y.begin && x.end == y.end; };
  for (std::size_t d = 0; d < a.runs.size(); ++d)
    if (!std::equal(a.runs[d].begin(), a.runs[d].end(), b.runs[d].begin(), b.runs[d].end(), same)) return false;
  return true;
}

void lay_out_tiles(const TensorModel& m, const TensorView& v, SidePicture& out) {
  const TensorSide& s = at(m.sides, out.side);
  std::vector<std::vector<int>> stacks;
  for (int t = s.first; t < s.first + s.tiles; ++t) {
    const Tile& tile = at(m.tiles, t);
    if (empty(tile)) {
      out.empty.push_back(t);
      continue;
    }
    if (!seen(m, v, tile)) continue;
    const auto known = std::find_if(stacks.begin(), stacks.end(),
        [&](const auto& x) { return same_place(at(m.tiles, x[0]), tile); });
    known == stacks.end() ? stacks.push_back({t}) : known->push_back(t);
  }
  const Rect& p = out.picture;
  for (const std::vector<int>& stack : stacks) {
    std::vector<Rect> rects;
    for (const Extent& y : extents(m, v, at(m.tiles, stack[0]), v.down))
      for (const Extent& x : extents(m, v, at(m.tiles, stack[0]), v.right))
        if (rects.size() < most_rects)
          rects.push_back({p.x + x.from * p.width, p.y + y.from * p.height, (x.to - x.from) * p.width,
              (y.to - y.from) * p.height});
    const Rect& place = rects.front();
    for (std::size_t k = 0; k < stack.size(); ++k) {
      TileShape shape{stack[k], rects, {}, static_cast<int>(stack.size())};
      const double left = place.x + 5 + static_cast<double>(k) * (swatch + 3);
      if (stack.size() > 1 && left + swatch <= place.right() - 2 && place.height >= swatch + 6)
        shape.swatch = {left, place.bottom() - swatch - 4, swatch, swatch};
      out.tiles.push_back(std::move(shape));
    }
  }
}

void lay_out_header(const TensorModel& m, const TensorView& v, TensorLayout& out) {
  double right = out.header.right() - margin;
  const auto width_of = [](const std::string& text) { return text_width(text, TextStyle::normal).value + 12; };
  const auto fits = [&](double width) { return right - width - 4 >= out.header.x + margin; };
  const auto put = [&](ButtonKind kind, int which, int step, std::string text) {
    const double width = width_of(text);
    if (!fits(width)) return;
    right -= width + 4;
    out.buttons.push_back({kind, which, step, {right, out.header.y + 5, width, 20}, std::move(text)});
  };
  // What it is of, then a step back, the track, and a step on; where there is no room for all, what it is of alone. While it
  // is dragged the text says where it would be let go.
  const auto put_slider = [&](ButtonKind kind, int which, std::int64_t size, std::int64_t index, const auto& text) {
    const double width = std::clamp(static_cast<double>(size) * 12, 36.0, 120.0);
    if (fits(width + width_of("▸") + width_of("◂") + width_of(text(size - 1)) + 12)) {
      put(kind, which, 1, "▸");
      right -= width + 4;
      const Slider& s = out.sliders.emplace_back(Slider{kind, which, size, index, {right, out.header.y + 5, width, 20}});
      put(kind, which, -1, "◂");
      if (v.mouse && v.slide == static_cast<int>(out.sliders.size()) - 1) index = index_at(s, v.mouse->x);
    }
    put(kind, which, 0, text(index));
  };
  if (m.has_gradient) put(ButtonKind::gradient, 0, 0, m.gradient ? "gradient" : "value");
  for (int a = 0; a < static_cast<int>(m.axes.size()); ++a) {
    const TensorAxis& axis = at(m.axes, a);
    put_slider(ButtonKind::index, a, axis.size, axis.index,
               [&](std::int64_t i) { return axis.name + " " + std::to_string(i) + " of " + std::to_string(axis.size); });
  }
  int others = 0;
  for (int d = 0; d < static_cast<int>(m.dimensions.size()); ++d) {
    if (d == v.down || d == v.right || at(m.dimensions, d).size <= 1) continue;
    ++others;
    if (borders(m, d).size() < 2) continue;
    const TensorDimension& dimension = at(m.dimensions, d);
    put_slider(ButtonKind::slice, d, dimension.size, at(v.at, d),
               [&](std::int64_t i) { return dimension.name + " " + std::to_string(i); });
  }
  if (others > 0) put(ButtonKind::dimensions, 0, 1, "other dimensions");
}

}  // namespace

std::int64_t index_at(const Slider& s, double x) {
  const double share = s.track.width > 0 ? (x - s.track.x) / s.track.width : 0;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(share * static_cast<double>(s.size))), 0, s.size - 1);
}

Rect knob(const Slider& s, std::int64_t index) {
  const double step = s.track.width / static_cast<double>(s.size), width = std::max(6.0, step);
  const double x = s.track.x + static_cast<double>(index) * step;
  return {std::min(x, s.track.right() - width), s.track.y + 4, width, s.track.height - 8};
}

TensorView first_view(const TensorModel& m) {
  TensorView v;
  v.at.assign(m.dimensions.size(), 0);
  std::vector<int> wanted;
  for (const bool only_cut : {true, false})
    for (int d = static_cast<int>(m.dimensions.size()); d-- > 0;) {
      const bool taken = std::find(wanted.begin(), wanted.end(), d) != wanted.end();
      if (!taken && at(m.dimensions, d).size > 1 && (!only_cut || cut(m, d))) wanted.push_back(d);
    }
  if (wanted.size() > 2) {  // of more than two that are cut the outermost
    const auto end = std::find_if(wanted.begin(), wanted.end(), [&](int d) { return !cut(m, d); });
    if (end - wanted.begin() > 2) wanted.assign(end - 2, end);
    wanted.resize(2);
  }
  std::sort(wanted.begin(), wanted.end());
  if (wanted.size() == 1) v.right = wanted[0];
  if (wanted.size() == 2) v.down = wanted[0], v.right = wanted[1];
  return v;
}

TileRun drawn(const TensorModel& m, const TensorView& v, int d) {
  const TileRun all{0, at(m.dimensions, d).size};
  TileRun held{all.end, 0};
  for (const Tile& t : m.tiles)
    for (const TileRun& r : at(t.runs, d))
      if (r.end > r.begin) held = {std::min(held.begin, r.begin), std::max(held.end, r.end)};
  return v.whole || held.end <= held.begin || (held.end - held.begin) * 4 >= all.end ? all : held;
}

std::vector<std::int64_t> borders(const TensorModel& m, int d) {
  std::set<std::int64_t> out = {0};
  for (const Tile& t : m.tiles)
    for (const TileRun& r : at(t.runs, d))
      if (r.end > r.begin) out.insert(r.begin);
  return {out.begin(), out.end()};
}

std::vector<std::string> refused_lines(const TensorSide& s) {
  constexpr std::size_t most = 8;
  constexpr std::string_view then = ", then ";
  std::vector<std::string> out;
  for (const std::string& path : s.refused) {
    const std::size_t colon = path.find(": ");
    out.push_back("refused, would take " + path.substr(0, colon) + (colon == std::string::npos ? "" : ":"));
    for (std::size_t at = colon == std::string::npos ? path.size() : colon + 2; at < path.size();) {
      const std::size_t end = std::min(path.find(then, at), path.size());
      out.push_back("    " + path.substr(at, end - at));
      at = end == path.size() ? end : end + then.size();
    }
  }
  if (out.size() > most) {
    out.resize(most - 1);
    out.push_back("…");
  }
  return out;
}

double natural_height(const TensorModel& m) {
  double height = header_height + strip_height + gap;
  for (int w = 0; w < static_cast<int>(m.sides.size()); ++w) {
    if (at(m.sides, w).writer >= 0) continue;
    double readers = 0;
    for (const int r : readers_of(m, w)) readers += side_height(at(m.sides, r), least_height) + gap;
    height += std::max(readers, caption + least_height + below + gap);
  }
  return height;
}

TensorLayout lay_out(const TensorModel& m, const TensorView& v, const Rect& area) {
  TensorLayout out;
  out.area = area;
  out.header = {area.x, area.y, area.width, header_height};
  out.strip = {area.x, area.bottom() - strip_height, area.width, strip_height};
  out.body = {area.x, out.header.bottom(), area.width, std::max(0.0, out.strip.y - out.header.bottom())};
  lay_out_header(m, v, out);
  const double height = picture_height(m, v, out.body.height - gap);
  const double inner = std::max(120.0, area.width - 2 * margin);
  const double middle = std::min(300.0, inner * 0.3), column = (inner - middle) / 2;
  const double left = area.x + margin, centre = left + column, right = centre + middle;
  double y = out.body.y + gap - v.scroll;
  const double top = y;
  const auto side = [&](int s, double x, double at_y) {
    SidePicture picture;
    picture.side = s;
    picture.picture = {x, at_y + caption, column, height};
    picture.frame = {x, at_y, column, caption + height + below};
    if (picture.frame.bottom() >= out.body.y && picture.frame.y <= out.body.bottom()) lay_out_tiles(m, v, picture);
    out.sides.push_back(std::move(picture));
  };
  for (int w = 0; w < static_cast<int>(m.sides.size()); ++w) {
    if (at(m.sides, w).writer >= 0) continue;
    side(w, left, y);
    double down = y;
    for (const int r : readers_of(m, w)) {
      side(r, right, down);
      double chip = down + caption;
      for (int k = 0; k < static_cast<int>(at(m.sides, r).moves.size()); ++k) {
        out.chips.push_back({r, k, {centre + 26, chip, middle - 52, chip_height}});
        chip += chip_height + chip_gap;
      }
      down += side_height(at(m.sides, r), height) + gap;
    }
    y = std::max(down, y + caption + height + below + gap);
  }
  out.content_height = y - top + gap;
  out.devices_per_cell = (m.devices + most_cells - 1) / most_cells;
  const std::int64_t cells = (m.devices + out.devices_per_cell - 1) / out.devices_per_cell;
  const double width = std::min(34.0, inner / static_cast<double>(cells));
  for (std::int64_t c = 0; c < cells; ++c)
    out.cells.push_back({left + static_cast<double>(c) * width, out.strip.y + 22, width - 2, 18});
  return out;
}

}  // namespace planscope::viz
