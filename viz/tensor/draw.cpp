#include "viz/tensor/draw.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

bool holds(const Tile& t, std::int64_t device) {
  return std::any_of(t.devices.begin(), t.devices.end(), [&](const TileDevices& d) { return d.contains(device); });
}

struct Picture {
  Canvas& canvas;
  const TensorModel& model;
  const TensorView& view;
  const Theme& theme;
  const TensorLayout layout;

  void text(double x, double y, const std::string& s, double room, Colour c, TextStyle style =
      TextStyle::normal) const {
    const std::string fitting = elided(s, style, Pixels{room});
    if (!fitting.empty()) canvas.text({x, y}, fitting, style, c);
  }

  void header() const {
    double room = layout.header.width - 20;
    for (const Button& b : layout.buttons) {
      room = std::min(room, b.rect.x - layout.header.x - 20);
      const bool arrow = b.step != 0, hover = view.mouse && b.rect.contains(*view.mouse);
      if (b.kind == ButtonKind::gradient || arrow) canvas.fill(b.rect, hover ? theme.panel : theme.raised, 4);
      canvas.text({b.rect.x + 6, b.rect.y + 14}, b.text, TextStyle::normal, hover ? theme.text : theme.dim);
    }
    for (std::size_t k = 0; k < layout.sliders.size(); ++k) {
      const Slider& s = layout.sliders[k];
      const bool dragged = view.slide == static_cast<int>(k) && view.mouse;
      const bool hover = dragged || (view.mouse && s.track.contains(*view.mouse));
      canvas.fill({s.track.x, s.track.y + s.track.height / 2 - 2, s.track.width, 4}, theme.raised, 2);
      canvas.fill(knob(s, dragged ? index_at(s, view.mouse->x) : s.index), hover ? theme.accent : theme.dim, 3);
    }
    std::string about = model.gradient ? "gradient of " + model.name : model.name;
    const double width = text_width(about, TextStyle::strong).value;
    text(layout.header.x + 12, layout.header.y + 19, about, room, theme.text, TextStyle::strong);
    std::string sizes;
    for (const TensorDimension& d : model.dimensions)
      sizes += (sizes.empty() ? "" : " × ") + d.name + " " + std::to_string(d.size);
    text(layout.header.x + 24 + width, layout.header.y + 19, (sizes.empty() ? "a single element" : sizes) + "  " +
        model.dtype, room - width - 12,
         theme.dim);
    canvas.line({layout.header.x, layout.header.bottom()}, {layout.header.right(), layout.header.bottom()}, theme.grid);
  }

  // Beyond eight the same again, paler: a hatch says that a tile is a part of a value.
  Colour colour(const Tile& t) const {
    const auto k = static_cast<std::size_t>(t.colour), all = theme.categories.size();
    return mix(theme.categories[k % all], theme.background, 0.25 * static_cast<double>(k / all % 3));
  }
  bool hatched(const Tile& t) const { return t.part >= 0; }

  bool outlined(int side, int tile) const {
    const Tile& t = at(model.tiles, tile);
    if (view.hover_device && holds(t, *view.hover_device)) return true;
    if (view.hover_tile < 0 || view.hover_side == side) return false;
    const Tile& h = at(model.tiles, view.hover_tile);  // tiles of other sides on the same devices
    return std::any_of(h.devices.begin(), h.devices.end(),
        [&](const TileDevices& d) { return holds(t, d.listed.empty() ? d.first : d.listed[0]); });
  }
  bool selected(int side, int tile) const {
    return (view.side == side && view.tile == tile) ||
           (view.marked_tiles.contains(tile) && !view.marked_sides.contains(side));
  }

  void tile(const SidePicture& s, const TileShape& shape) const {
    const Tile& t = at(model.tiles, shape.tile);
    const bool first = is_first(shape);
    for (const Rect& r : shape.rects) {
      if (!first) break;
      const Rect drawn = r.width > 3 && r.height > 3 ? Rect{r.x, r.y, r.width - 1, r.height - 1} : r;
      canvas.fill(drawn, shape.stack > 1 ? theme.raised : mix(theme.background, colour(t), 0.78));
      if (hatched(t) || shape.stack > 1)
        canvas.hatch(drawn, with_alpha(shape.stack > 1 ? theme.dim : theme.background, 0.55));
    }
    if (!shape.swatch.empty()) {
      canvas.fill(shape.swatch, colour(t), 2);
    }
    const bool mark = selected(s.side, shape.tile), other = outlined(s.side, shape.tile);
    const bool hover = view.hover_side == s.side && view.hover_tile == shape.tile;
    if (mark || other || hover) {
      const std::vector<Rect> around = shape.swatch.empty() ? shape.rects : std::vector<Rect>{shape.swatch};
      for (const Rect& r : around) canvas.stroke(r, mark ? theme.accent : theme.outline, mark ? 2 : 1, 0);
    }
  }

  // Of the parts of one value, which lie at one place.
  static bool is_first(const TileShape& shape) {
    return shape.swatch.empty() || shape.swatch.x <= shape.rects[0].x + 6;
  }

  void label(const Tile& t, const TileShape& shape) const {
    const Rect& r = *std::max_element(shape.rects.begin(), shape.rects.end(),
                                      [](const Rect& a,
                                          const Rect& b) { return a.width * a.height < b.width * b.height; });
    if (r.height < 13 || r.width < 16) return;
    std::string what = t.devices_text;
    if (shape.stack > 1) what = std::to_string(t.part_of) + " parts of one value (" + t.part_kind + ")";
    else if (t.part >= 0)
      what += ", part " + std::to_string(t.part + 1) +
              (t.part_last > t.part ? "–" + std::to_string(t.part_last + 1) : "") + " of " + std::to_string(t.part_of);
    if (shape.stack == 1 && t.blocks > 1) what += " · " + std::to_string(t.blocks) + " blocks";
    const std::string whole = (shape.stack > 1 ? "" : t.count == 1 ? "device " : "devices ") + what;
    const bool fits = text_width(whole, TextStyle::small) <= Pixels{r.width - 8};
    const Colour ink = shape.stack > 1 ? theme.text : theme.on_block;
    const std::string shown = elided(fits ? whole : what, TextStyle::small, Pixels{r.width - 6});
    const double base = r.height < 22 ? r.y + r.height / 2 + 4 : r.y + 12;
    if ((hatched(t) || shape.stack > 1) && !shown.empty())
      canvas.fill({r.x + 2, base - 11, text_width(shown, TextStyle::small).value + 4, 12},
                  shape.stack > 1 ? theme.raised : mix(theme.background, colour(t), 0.78));
    const std::string second = t.keys.empty() ? region_text(t) : t.keys;
    text(r.x + 4, base, shown, r.width - 4, ink, TextStyle::small);
    if (second.empty()) return;
    if (r.height >= 28) return text(r.x + 4, r.y + 24, second, r.width - 6, ink, TextStyle::small);
    const double used = text_width(shown, TextStyle::small).value + 18,
                 wide = text_width(second, TextStyle::small).value;
    if (used + wide + 8 > r.width) return;
    if (hatched(t) && shape.stack == 1)
      canvas.fill({r.right() - wide - 9, r.y + 1, wide + 6, 12}, mix(theme.background, colour(t), 0.78));
    text(r.right() - wide - 6, base, second, wide + 4, ink, TextStyle::small);
  }

  // Which indices a tile has of the dimensions that are drawn, where not all: `seq 0:1024`.
  std::string region_text(const Tile& t) const {
    std::string out;
    for (const int d : {view.down, view.right}) {
      if (d < 0) continue;
      const std::vector<TileRun>& runs = at(t.runs, d);
      if (runs.size() == 1 && runs[0].begin == 0 && runs[0].end == at(model.dimensions, d).size) continue;
      out += (out.empty() ? "" : ", ") + at(model.dimensions, d).name + " ";
      for (std::size_t k = 0; k < runs.size() && k < 3; ++k)
        out += (k ? "+" : "") + std::to_string(runs[k].begin) + ":" + std::to_string(runs[k].end);
      if (runs.size() > 3) out += "+…";
    }
    return out;
  }

  void side(const SidePicture& s) const {
    const TensorSide& about = at(model.sides, s.side);
    if (s.frame.bottom() < layout.body.y || s.frame.y > layout.body.bottom()) return;
    const bool writes = about.writer < 0;
    const std::string verb = model.gradient ? (writes ? "wanted by " : "given by ")
        : (writes ? "written by " : "read by ");
    text(s.frame.x, s.frame.y + 12, verb + about.title, s.frame.width, theme.text, TextStyle::strong);
    text(s.frame.x, s.frame.y + 26, about.layout, s.frame.width, theme.dim, TextStyle::small);
    text(s.frame.x, s.frame.y + 38, "on " + about.place + (about.segment.empty() ? "" : ", in " + about.segment),
        s.frame.width, theme.dim, TextStyle::small);
    canvas.fill(s.picture, theme.raised);
    canvas.push_clip({s.picture.x - 1, s.picture.y - 1, s.picture.width + 2, s.picture.height + 2});
    for (const TileShape& t : s.tiles) tile(s, t);
    for (const TileShape& t : s.tiles)  // over the swatches of others
      if (is_first(t)) label(at(model.tiles, t.tile), t);
    canvas.pop_clip();
    const bool marked = view.marked_sides.contains(s.side);
    canvas.stroke(marked ? inset(s.picture, -2) : s.picture, marked ? theme.accent : theme.grid, marked ? 2 : 1);
    std::string axes;
    if (view.down >= 0) axes += axis(view.down) + " ↓  ";
    if (view.right >= 0) axes += axis(view.right) + " →";
    std::string none;
    for (const int t : s.empty) none += (none.empty() ? "" : "; ") + at(model.tiles, t).devices_text;
    if (!none.empty()) axes += "   nothing on " + none;
    if (const std::string many = too_thin(s); !many.empty()) axes += "   " + many;
    if (!model.axes.empty() && has_gaps(s)) axes += "   grey: at another index";
    text(s.picture.x, s.picture.bottom() + 12, axes, s.picture.width, theme.dim, TextStyle::small);
  }

  // What tiles hold that are too thin to say it themselves; empty: some can.
  std::string too_thin(const SidePicture& s) const {
    for (const TileShape& t : s.tiles)
      for (const Rect& r : t.rects)
        if (r.height >= 13 && r.width >= 16) return "";
    if (s.tiles.empty()) return "";
    const Tile &first = at(model.tiles, s.tiles.front().tile), &last = at(model.tiles, s.tiles.back().tile);
    return std::to_string(s.tiles.size()) + " tiles: devices " + first.devices_text + " … " + last.devices_text;
  }

  // Whether tiles leave some of what is drawn to other indices of free axes.
  bool has_gaps(const SidePicture& s) const {
    double covered = 0;
    std::set<std::pair<double, double>> seen;  // parts of one value lie at one place
    for (const TileShape& t : s.tiles)
      for (const Rect& r : t.rects)
        if (seen.emplace(r.x, r.y).second) covered += r.width * r.height;
    return covered < 0.99 * s.picture.width * s.picture.height;
  }

  std::string axis(int d) const {
    const TensorDimension& of = at(model.dimensions, d);
    const TileRun r = drawn(model, view, d);
    return r.begin == 0 && r.end == of.size ? of.name + " " + std::to_string(of.size)
                                            : of.name + " " + std::to_string(r.begin) + ":" + std::to_string(r.end) +
                                                  " of " + std::to_string(of.size);
  }

  const SidePicture* picture_of(int side) const {
    const auto found = std::find_if(layout.sides.begin(), layout.sides.end(),
        [&](const SidePicture& s) { return s.side == side; });
    return found == layout.sides.end() ? nullptr : &*found;
  }

  void way(const SidePicture& reader) const {
    const TensorSide& about = at(model.sides, reader.side);
    const SidePicture* writer = about.writer < 0 ? nullptr : picture_of(about.writer);
    if (!writer) return;
    const Colour c = about.moves.empty() ? theme.dim : theme.communication;
    const double y = reader.picture.y + 15, from_y = writer->picture.y + 15;
    const Point from{writer->picture.right() + 4, from_y}, to{reader.picture.x - 6, y};
    const double bend = from.x + 12;
    canvas.polyline(from_y == y ? std::vector<Point>{from, to}
        : std::vector<Point>{from, {bend, from_y}, {bend, y}, to}, c, 1);
    const Point tip = model.gradient ? from : to;
    const double back = model.gradient ? 5 : -5;
    canvas.polyline({{tip.x + back, tip.y - 4}, tip, {tip.x + back, tip.y + 4}}, c, 1);
    if (about.moves.empty()) {
      const std::string as_it_is = model.gradient ? "as it is wanted" : "as it is written";
      const double width = text_width(as_it_is, TextStyle::small).value + 8, middle = (bend + to.x) / 2;
      canvas.fill({middle - width / 2, y - 8, width, 14}, theme.background);
      canvas.text({middle - width / 2 + 4, y + 3}, as_it_is, TextStyle::small, theme.dim);
    }
    double line = reader.picture.y + static_cast<double>(about.moves.size()) * 36 + 10;
    for (const std::string& refused : refused_lines(about)) {
      text(bend + 14, line, refused, to.x - bend - 24, theme.dim, TextStyle::small);
      line += 13;
    }
  }

  void chip(const ChipPicture& c, bool hover) const {
    const MoveChip& m = at(at(model.sides, c.side).moves, c.move);
    const bool local = m.bytes.value <= 0;
    canvas.fill(c.rect, hover ? theme.panel : theme.raised, 4);
    canvas.stroke(c.rect, local ? theme.grid : theme.communication, 1, 4);
    text(c.rect.x + 8, c.rect.y + 13, local ? m.what : m.kind + " · " + format_bytes(m.bytes), c.rect.width - 12,
        theme.text, TextStyle::small);
    std::string second = local ? "on each device, nothing is sent" : format_time(m.time);
    if (!local && m.exposed.value >= 0)
      second += m.exposed.value > 0 ? " · " + format_time(m.exposed) + " exposed" : " · hidden";
    if (m.shared > 1)
      second += (model.gradient ? " · of " : " · for ") + std::to_string(m.shared) +
                (model.gradient ? " together" : " readers");
    text(c.rect.x + 8, c.rect.y + 25, second, c.rect.width - 12, theme.dim, TextStyle::small);
  }

  void strip() const {
    canvas.fill(layout.strip, theme.background);
    canvas.line({layout.strip.x, layout.strip.y}, {layout.strip.right(), layout.strip.y}, theme.grid);
    const int shown = view.hover_tile >= 0 ? view.hover_tile : view.tile;
    std::string what = model.devices == 1 ? "1 device" : std::to_string(model.devices) + " devices";
    if (layout.devices_per_cell > 1) what += ", " + std::to_string(layout.devices_per_cell) + " in a cell";
    if (shown >= 0)
      what = "held by " + std::to_string(at(model.tiles, shown).count) + " of " + what + ": " +
          at(model.tiles, shown).devices_text;
    text(layout.strip.x + 12, layout.strip.y + 15, what, layout.strip.width - 24, theme.dim, TextStyle::small);
    for (std::size_t c = 0; c < layout.cells.size(); ++c) {
      const std::int64_t first = static_cast<std::int64_t>(c) * layout.devices_per_cell;
      const Rect& r = layout.cells[c];
      canvas.fill(r, theme.raised, 2);
      bool held = false;
      const std::int64_t end = std::min(model.devices, first + layout.devices_per_cell);
      for (std::int64_t d = first; shown >= 0 && !held && d < end; ++d)
        held = holds(at(model.tiles, shown), d);
      if (held) canvas.fill(r, colour(at(model.tiles, shown)), 2);
      if (view.hover_device && *view.hover_device >= first && *view.hover_device < end) canvas.stroke(r, theme.outline, 1, 2);
      const std::string number = std::to_string(first);
      if (text_width(number, TextStyle::small) <= Pixels{r.width - 2})
        canvas.text({r.x + (r.width - text_width(number, TextStyle::small).value) / 2, r.y + 13}, number,
            TextStyle::small,
                    held ? theme.on_block : theme.dim);
    }
  }

  void draw() const {
    canvas.push_clip(layout.area);
    header();
    canvas.push_clip(layout.body);
    if (model.sides.empty())
      text(layout.body.x + 12, layout.body.y + 24, "Nothing of this tensor is computed at this index.",
          layout.body.width - 24, theme.dim);
    for (const SidePicture& s : layout.sides) way(s);
    for (const SidePicture& s : layout.sides) side(s);
    for (std::size_t c = 0; c < layout.chips.size(); ++c) chip(layout.chips[c], view.hover_chip == static_cast<int>(c));
    if (layout.content_height > layout.body.height) {
      const double share = layout.body.height / layout.content_height;
      canvas.fill({layout.area.right() - 6, layout.body.y + view.scroll * share, 4, layout.body.height * share},
          with_alpha(theme.dim, 0.5), 2);
    }
    canvas.pop_clip();
    strip();
    canvas.pop_clip();
  }
};

}  // namespace

void draw_tensor(Canvas& canvas, const TensorModel& model, const TensorView& view, const Rect& area,
    const Theme& theme) {
  Picture{canvas, model, view, theme, lay_out(model, view, area)}.draw();
}

}  // namespace planscope::viz
