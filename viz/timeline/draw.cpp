#include "viz/timeline/draw.h"

#include "viz/timeline/reorder.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/timeline/hatch_runs.h"
#include "viz/timeline/interaction.h"

namespace planscope::viz {

Colour colour_of(BlockKind kind, const Theme& t) {
  switch (kind) {
    case BlockKind::forward:
      return t.forward;
    case BlockKind::backward:
      return t.backward;
    case BlockKind::weight:
      return t.weight;
    case BlockKind::update:
      return t.update;
    case BlockKind::communication:
      return t.communication;
    case BlockKind::idle_cool_down:
      return t.idle_cool_down;
    case BlockKind::idle_imbalance:
      return t.idle_imbalance;
    case BlockKind::idle_data:
      return t.idle_data;
    case BlockKind::idle_communication:
      return t.idle_communication;
    case BlockKind::idle_memory:
      return t.idle_memory;
    default:
      return t.idle;
  }
}

Hatch hatch_of(BlockKind kind) {
  switch (kind) {
    case BlockKind::weight:
      return Hatch::crossed;
    case BlockKind::communication:
      return Hatch::wide;
    case BlockKind::update:
    case BlockKind::idle_cool_down:
      return Hatch::falling;
    case BlockKind::idle_imbalance:
      return Hatch::vertical;
    case BlockKind::idle_data:
      return Hatch::crossed;
    case BlockKind::idle_communication:
      return Hatch::dense;
    case BlockKind::idle_memory:
      return Hatch::horizontal;
    default:
      return Hatch::rising;
  }
}

Colour colour_of(MemoryKind kind, const Theme& t) {
  return kind == MemoryKind::communication ? t.communication : t.categories[static_cast<std::size_t>(kind)];
}

Hatch hatch_of(MemoryKind kind) { return static_cast<Hatch>(kind); }

// Of a block that is filled with its colour.
Colour hatch_colour(BlockKind kind, const Theme& t) {
  return is_idle(kind) ? t.background : mix(colour_of(kind, t), t.background, 0.3);
}

namespace {

constexpr double memory_column = 3;  // pixels

struct Picture {
  Canvas& canvas;
  const TimelineModel& model;
  const TimelineIndex& index;
  const TimelineView& view;
  const Theme& theme;
  const TimelineLayout layout;
  mutable std::vector<Rect> flags = {};  // that are drawn already

  void ruler() const {
    for (const Tick& tick : ticks(layout.scale, Pixels{90})) {
      const double x = std::round(layout.scale.to_x(tick.at).value);
      canvas.line({x, layout.ruler.y + 16}, {x, layout.area.bottom()}, theme.grid);
      if (x + text_width(tick.label, TextStyle::normal).value + 3 <= layout.area.right()) {
        canvas.text({x + 4, layout.ruler.y + 14}, tick.label, TextStyle::normal, theme.dim);
      }
    }
  }

  void label(int i) const {
    const Rect& r = layout.lanes[i].label;
    const Lane& lane = model.lanes[i];
    canvas.push_clip({layout.area.x, layout.body.y, layout.body.x - layout.area.x - 6, layout.body.height});
    const double x = r.x + 16;
    const Pixels room{r.right() - x - 8};
    if (view.marked && view.marked->lanes.contains(lane.name))
      canvas.fill({layout.area.x + 1, r.y, 3, r.height}, theme.accent);
    triangle({r.x + 10, r.y + 7}, lane.folded);
    if (lane.pinned) canvas.fill({r.x + 6, r.y + 15, 8, 2}, theme.accent);
    canvas.text({x, r.y + 11}, elided(lane.name, TextStyle::strong, room), TextStyle::strong, theme.text);
    if (!lane.folded) {
      const std::string devices = lane.devices == 1 ? "1 device" : std::to_string(lane.devices) + " devices";
      const std::size_t colon = lane.about.find(": ");  // behind the stage, where it has one
      const std::string stage = colon == std::string::npos ? "" : lane.about.substr(0, colon);
      const std::string layers = colon == std::string::npos ? lane.about : lane.about.substr(colon + 2);
      const std::string second = (stage.empty() ? "" : stage + " · ") + devices;
      canvas.text({x, r.y + 25}, elided(second, TextStyle::normal, room), TextStyle::normal, theme.dim);
      if (!layers.empty()) canvas.text({x, r.y + 37}, elided(layers, TextStyle::small, room), TextStyle::small, theme.dim);
      memory_label(i, layout.lanes[i].memory, x, room);
    }
    canvas.pop_clip();
  }

  // Down: open; to the right: folded.
  void triangle(Point at, bool folded) const {
    for (int k = 0; k < 4; ++k) {
      const double w = 7 - 2 * k;
      if (folded)
        canvas.fill({at.x - 2 + k, at.y - w / 2, 1, w}, theme.dim);
      else
        canvas.fill({at.x - w / 2, at.y - 2 + k, w, 1}, theme.dim);
    }
  }

  void memory_label(int i, const Rect& r, double x, Pixels room) const {
    if (r.empty()) return;
    const Lane& lane = model.lanes[i];
    const double peak = index.peaks[i];
    const bool over = lane.capacity.value > 0 && peak > lane.capacity.value;
    canvas.text({x, r.y + 12}, elided((over ? "! peak " : "peak ") + format_bytes({peak}), TextStyle::small, room), TextStyle::small,
                over ? theme.bad : theme.text);
    if (lane.capacity.value <= 0) return;
    canvas.text({x, r.y + 25}, elided("of " + format_bytes(lane.capacity), TextStyle::small, room), TextStyle::small,
                theme.dim);
  }

  // Which micro-batch is to be told from the others: that of the selection, else that under the mouse.
  std::int32_t highlighted() const {
    if (view.selection) return model.at(*view.selection).micro_batch;
    return view.hover ? model.at(*view.hover).micro_batch : -1;
  }

  void stream(int lane, int s) const {
    const Stream& stream = model.lanes[lane].streams[s];
    const Rect& row = layout.lanes[lane].streams[s];
    if (row.empty()) return;
    const std::int32_t marked = highlighted();
    const std::vector<Span> spans = visible_spans(stream, index.streams[lane][s], layout.scale, default_fold);
    folded(spans, row, true);
    folded(spans, row, false);
    for (const Span& span : spans) {
      const double left = std::max(span.x, row.x - 4), right = std::min(span.x + span.width, row.right() + 4);
      if (span.last - span.first > 1) {
        if (view.marked && marked_within(*view.marked, lane, s, span.first, span.last) > 0)
          canvas.fill({left, row.bottom() - 1, std::max(1.0, right - left), 2}, theme.accent);
        found(lane, s, span, row, left, right);
        continue;
      }
      const Block& block = stream.blocks[span.first];
      const double gap = right - left > 4 ? 1 : 0;  // a hair of background between neighbours
      single({left, row.y, std::max(1.0, right - left - gap), row.height}, block, marked >= 0 && block.micro_batch == marked);
      if (view.marked && is_marked(*view.marked, {lane, s, span.first}))
        canvas.stroke(inset({left, row.y, std::max(1.0, right - left), row.height}, -1), theme.accent, 1.5, 2);
      found(lane, s, span, row, left, right);
    }
  }

  // What a search has found, over the head of the blocks.
  void found(int lane, int s, const Span& span, const Rect& row, double left, double right) const {
    if (view.found && marked_within(*view.found, lane, s, span.first, span.last) > 0)
      canvas.fill({left, row.y - 2, std::max(2.0, right - left), 4}, theme.warning);
  }

  // Bands of a run that is too narrow for its blocks, as high as their shares of its time, and a pixel at least, so
  // that no kind disappears: work from the top, idle time at the foot.
  template <class Band>
  static void bands(const Span& span, double height, bool idle, Band&& band) {
    double most = 0, offset = 0;
    for (int k = 0; k < block_kinds; ++k) most += span.share[static_cast<std::size_t>(k)] > 0 ? 1 : 0;
    const double spare = std::max(0.0, height - most);
    for (int k = 0; k < block_kinds; ++k) {
      const double share = span.share[static_cast<std::size_t>(k)];
      if (share <= 0 || is_idle(static_cast<BlockKind>(k)) != idle) continue;
      const double h = std::min(height, 1 + share * spare);
      band(static_cast<BlockKind>(k), idle ? height - offset - h : offset, h);
      offset += h;
    }
  }

  // The kinds of work, or a tint of each cause of idle time, in their hatches.
  void folded(const std::vector<Span>& spans, const Rect& row, bool idle) const {
    std::vector<HatchRuns> hatches;
    std::array<Colour, block_kinds> colours;
    for (int k = 0; k < block_kinds; ++k) {
      const auto kind = static_cast<BlockKind>(k);
      hatches.emplace_back(canvas, hatch_colour(kind, theme), hatch_of(kind));
      colours[static_cast<std::size_t>(k)] = idle ? mix(theme.background, colour_of(kind, theme), 0.6) : colour_of(kind, theme);
    }
    for (const Span& span : spans) {
      if (span.last - span.first == 1) continue;
      bands(span, row.height, idle, [&](BlockKind kind, double top, double h) {
        const Rect band{span.x, row.y + top, std::max(1.0, span.width), h};
        canvas.fill(band, colours[static_cast<std::size_t>(kind)]);
        if (is_hatched(kind)) hatches[static_cast<std::size_t>(kind)].add(intersection(band, row));
      });
    }
    for (HatchRuns& h : hatches) h.end();
  }

  void single(const Rect& r, const Block& block, bool marked) const {
    const Colour colour = colour_of(block.kind, theme);
    if (is_idle(block.kind)) return idle(r, block.kind);
    canvas.fill(r, colour, r.width > 6 && r.height > 12 ? 2 : 0);
    if (is_hatched(block.kind) && r.width > 6) canvas.hatch(r, hatch_colour(block.kind, theme), hatch_of(block.kind));
    if (marked && r.width > 4) canvas.stroke(r, theme.outline, 1, r.height > 12 ? 2 : 0);
    if (r.height < 14 || r.width < 14) return;
    const double x = std::max(r.x, layout.body.x) + 4;
    const std::string text = fitting_label(block, Pixels{r.right() - x - 2});
    canvas.text({x, r.y + std::round(r.height / 2) + 4}, text, TextStyle::strong, ink_on(colour));
  }

  // Hatched, with the cause where there is room for it.
  void idle(const Rect& r, BlockKind kind) const {
    canvas.hatch(r, colour_of(kind, theme), hatch_of(kind));
    const std::string cause = std::string(name_of(kind)).substr(6);
    const double x = std::max(r.x, layout.body.x) + 6;
    if (r.height < 16 || text_width(cause, TextStyle::small).value + 12 > r.right() - x) return;
    canvas.text({x, r.y + std::round(r.height / 2) + 4}, cause, TextStyle::small, theme.dim);
  }

  // The label, or the micro-batch alone, or nothing: never a part of a word.
  static std::string fitting_label(const Block& block, Pixels room) {
    if (text_width(block.label, TextStyle::strong) <= room) return block.label;
    const std::string number = block.micro_batch >= 0 ? std::to_string(block.micro_batch) : std::string();
    return text_width(number, TextStyle::strong) <= room ? number : std::string();
  }

  // Stacked by kind, as columns; the greatest step of a column is shown. All lanes have one scale.
  void memory(int lane) const {
    const Rect& r = layout.lanes[lane].memory;
    if (r.empty()) return;
    const Lane& l = model.lanes[lane];
    const double scale = (r.height - 3) / index.memory_top;
    // Layer by layer; what goes on at the same height is one rectangle.
    const std::vector<MemoryColumn> columns = memory_columns(l, index.memory[lane], layout.scale, Pixels{memory_column});
    std::vector<double> bottom(columns.size(), r.bottom() - 1);
    for (int k = 0; k <= memory_kinds; ++k) {
      const Colour colour = k == memory_kinds ? mix(theme.background, theme.memory, 0.4)
                                              : mix(theme.background, colour_of(static_cast<MemoryKind>(k), theme), 0.62);
      HatchRuns hatch(canvas, theme.background, hatch_of(static_cast<MemoryKind>(k)));
      Rect run;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const MemoryStep& step = l.memory[static_cast<std::size_t>(columns[i].step)];
        const double h = k == memory_kinds ? (bottom[i] == r.bottom() - 1 ? step.bytes.value * scale : 0)  // of no known kind
                                           : step.kinds[static_cast<std::size_t>(k)].value * scale;
        const Rect now{columns[i].x, bottom[i] - h, columns[i].width, std::max(0.0, h)};
        bottom[i] -= std::max(0.0, h);
        if (now.y == run.y && now.height == run.height) {
          run.width = now.right() - run.x;
          continue;
        }
        fill_layer(run, colour, k < memory_kinds ? &hatch : nullptr);
        run = now;
      }
      fill_layer(run, colour, k < memory_kinds ? &hatch : nullptr);
      hatch.end();
    }
    canvas.line({r.x, r.bottom()}, {r.right(), r.bottom()}, theme.grid);
    const double capacity = l.capacity.value, y = std::round(r.bottom() - 1 - capacity * scale);
    if (capacity > 0 && capacity <= index.memory_top) canvas.line({r.x, y}, {r.right(), y}, theme.capacity, 1, Dash::dashed);
    peak(lane, r, scale);
  }

  // A part of a kind's layer; of no known kind: without a hatch.
  void fill_layer(const Rect& part, Colour colour, HatchRuns* hatch) const {
    if (part.empty()) return;
    canvas.fill(part, colour);
    if (hatch) hatch->add(part);
  }

  // Where most is in use: a small flag on the curve.
  void peak(int lane, const Rect& r, double scale) const {
    const Lane& l = model.lanes[lane];
    if (l.peak_at.value < 0 || l.peak_at < view.range.begin || l.peak_at > view.range.end) return;
    const double x = std::round(layout.scale.to_x(l.peak_at).value), y = r.bottom() - 1 - index.peaks[lane] * scale;
    for (int k = 0; k < 4; ++k) canvas.fill({x - 3 + k, y - 5 + k, 7.0 - 2 * k, 1}, theme.text);
    canvas.line({x, y}, {x, r.bottom()}, with_alpha(theme.text, 0.6));
  }

  Rect rect_of(const BlockRef& ref) const {
    const Block& b = model.at(ref);
    const Rect& row = layout.lanes[ref.lane].streams[ref.stream];
    return {layout.scale.to_x(b.start).value, row.y, std::max(3.0, layout.scale.to_width(b.duration).value),
            row.height};
  }

  void links() const {
    for (const Link& link : view.links) {
      if (layout.lanes[link.from.lane].streams[link.from.stream].empty() || layout.lanes[link.to.lane].streams[link.to.stream].empty()) continue;
      const Rect a = rect_of(link.from), b = rect_of(link.to);
      const Point from{a.right(), a.y + a.height / 2}, to{b.x, b.y + b.height / 2};
      std::vector<Point> curve;
      for (int i = 0; i <= 16; ++i) {  // an S between two horizontal tangents
        const double t = i / 16.0, s = t * t * (3 - 2 * t);
        curve.push_back({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * s});
      }
      canvas.polyline(std::move(curve), theme.communication, 1.5);
    }
  }

  // Over the foot of the blocks, so that what is on the path can be followed from lane to lane.
  void critical() const {
    if (!view.show_critical) return;
    const double from = view.range.begin.value, to = view.range.end.value;
    auto part = std::partition_point(model.critical.begin(), model.critical.end(),
                                     [&](const PathPart& p) { return (p.start + p.duration).value < from; });
    for (; part != model.critical.end() && part->start.value <= to; ++part) {
      const Rect& row = layout.lanes[part->lane].streams[part->stream];
      if (row.empty() || !in_sight(model, layout, part->lane, row.y)) continue;
      const double x = layout.scale.to_x(part->start).value, right = layout.scale.to_x(part->start + part->duration).value;
      canvas.fill({x, row.bottom() - 3, std::max(1.0, right - x), 3}, theme.capacity);
    }
  }

  void marks() const {
    for (const Microseconds& m : view.marks)
      if (m >= view.range.begin && m <= view.range.end) flag(layout.scale.to_x(m).value, format_time(m), theme.accent, Dash::dashed);
    if (view.marks.size() < 2) return;
    const Microseconds a = std::min(view.marks[view.marks.size() - 2], view.marks.back()), b = std::max(view.marks[view.marks.size() - 2], view.marks.back());
    const double left = std::max(layout.scale.to_x(a).value, layout.body.x), right = std::min(layout.scale.to_x(b).value, layout.body.right());
    if (right <= left) return;
    const double y = layout.ruler.y + 8;
    canvas.fill({left, layout.body.y, right - left, layout.body.height}, with_alpha(theme.accent, 0.08));
    canvas.line({left, y}, {right, y}, theme.accent, 1.5);
    const std::string text = format_time(b - a);
    const double width = text_width(text, TextStyle::strong).value + 10;
    const double x = std::clamp((left + right - width) / 2, layout.body.x, std::max(layout.body.x, layout.body.right() - width));
    canvas.fill({x, y - 7, width, 15}, theme.panel, 3);
    canvas.text({x + 5, y + 5}, text, TextStyle::strong, theme.accent);
  }

  // The part of the step that is selected, over its lanes; a moment is a line.
  void selected_time() const {
    if (!view.time) return;
    const double left = std::max(layout.scale.to_x(view.time->begin).value, layout.body.x);
    const double right = std::min(layout.scale.to_x(view.time->end).value, layout.body.right());
    if (right < layout.body.x || left > layout.body.right() || right < left) return;
    for (int l = 0; l < static_cast<int>(layout.lanes.size()); ++l) {
      if (!view.time_lanes.empty() && !view.time_lanes.contains(model.lanes[l].name)) continue;
      const Rect& lane = layout.lanes[l].label;
      const double top = model.lanes[l].pinned ? layout.body.y : layout.scrolled.y;
      const double y = std::max(top, lane.y - 3), bottom = std::min(layout.body.bottom(), lane.bottom() + 3);
      if (bottom <= y) continue;
      if (right - left >= 1) canvas.fill({left, y, right - left, bottom - y}, with_alpha(theme.accent, 0.16));
      canvas.line({left, y}, {left, bottom}, theme.accent);
      if (right - left >= 1) canvas.line({right, y}, {right, bottom}, theme.accent);
    }
  }

  // An area while it is drawn up.
  void area() const {
    if (!view.selecting || !view.press || !view.mouse || !view.dragging) return;
    const Point a = *view.press, b = *view.mouse;
    const Rect r = intersection({std::min(a.x, b.x), std::min(a.y, b.y), std::fabs(a.x - b.x), std::fabs(a.y - b.y)}, layout.body);
    canvas.fill(r, with_alpha(theme.accent, 0.12));
    canvas.stroke(r, theme.accent, 1);
    canvas.text({r.x + 4, r.y + 12}, format_time(layout.scale.to_duration(Pixels{r.width})), TextStyle::small, theme.accent);
  }

  void outlines() const {
    if (view.hover && view.hover != view.selection)
      canvas.stroke(rect_of(*view.hover), with_alpha(theme.outline, 0.7), 1, 2);
    if (!view.selection) return;
    const Rect r = rect_of(*view.selection);
    if (r.height <= 0) return;
    canvas.stroke(inset(r, -2), theme.accent, 2, 3);
  }

  // A vertical line with its label at the bottom, on a plate so that it can be read over anything.
  void flag(double x, const std::string& label, Colour colour, Dash dash) const {
    x = std::round(x);
    canvas.line({x, layout.ruler.y + 18}, {x, layout.area.bottom()}, colour, 1, dash);
    const double width = text_width(label, TextStyle::small).value + 8;
    const double left = x + 2 + width > layout.area.right() ? x - 2 - width : x + 2;
    Rect box{left, layout.area.bottom() - 16, width, 14};
    const auto covers = [&](const Rect& f) { return !intersection(f, box).empty(); };
    while (box.y > layout.body.y && std::any_of(flags.begin(), flags.end(), covers))
      box.y -= 16;  // above those that stand there already
    flags.push_back(box);
    canvas.fill(box, theme.panel, 3);
    canvas.text({left + 4, box.y + 11}, label, TextStyle::small, theme.text);
  }

  // A block that is being moved: where it is, and where it would go.
  void moved() const {
    if (!view.moving || !view.dragging || !view.mouse) return;
    const Rect& stream = layout.lanes[view.moving->lane].streams[view.moving->stream];
    canvas.stroke(inset(rect_of(*view.moving), -2), theme.accent, 2, 3);
    const std::optional<Reorder> drop = reorder(model, layout, *view.moving, *view.mouse);
    if (!drop) return;
    const double x = layout.scale.to_x(drop->at).value;
    canvas.line({x, stream.y - 4}, {x, stream.bottom() + 4}, theme.accent, 3);
    flag(x, drop->task + (drop->before ? " before " : " after ") + drop->other, theme.accent, Dash::solid);
  }

  void scroll_bar() const {
    if (layout.content_height <= layout.body.height) return;
    const double share = layout.body.height / layout.content_height;
    canvas.fill({layout.area.right() - 6, layout.body.y + view.scroll * share, 4, layout.body.height * share},
                with_alpha(theme.dim, 0.5), 2);
  }

  void lanes(bool pinned) const {
    const double top = pinned ? layout.body.y : layout.scrolled.y;
    const auto seen = [&](int l) {
      const Rect& lane = layout.lanes[l].label;
      return model.lanes[l].pinned == pinned && lane.bottom() >= top && lane.y <= layout.body.bottom();
    };
    const int count = static_cast<int>(layout.lanes.size());
    canvas.push_clip({layout.area.x, top, layout.area.width, layout.body.bottom() - top});
    for (int l = 0; l < count; ++l)
      if (seen(l)) label(l);
    canvas.push_clip({layout.body.x - 1, top, layout.body.width + 2, layout.body.bottom() - top});
    for (int l = 0; l < count; ++l) {
      if (!seen(l)) continue;
      for (int s = 0; s < static_cast<int>(layout.lanes[l].streams.size()); ++s) stream(l, s);
      memory(l);
    }
    canvas.pop_clip();
    canvas.pop_clip();
  }

  void draw() const {
    canvas.push_clip(layout.area);
    ruler();
    lanes(true);
    if (layout.scrolled.y > layout.body.y) canvas.line({layout.area.x, layout.scrolled.y}, {layout.area.right(), layout.scrolled.y}, theme.dim);
    lanes(false);
    canvas.push_clip({layout.body.x - 1, layout.body.y, layout.body.width + 2, layout.body.height});
    critical();
    selected_time();
    links();
    outlines();
    area();
    moved();
    canvas.pop_clip();
    for (const Marker& m : model.markers) {
      if (m.at >= view.range.begin && m.at <= view.range.end)
        flag(layout.scale.to_x(m.at).value, m.label, theme.dim, Dash::dashed);
    }
    marks();
    if (view.mouse && layout.body.contains(*view.mouse)) {
      flag(view.mouse->x, format_time(layout.scale.to_time(Pixels{view.mouse->x})), theme.accent, Dash::solid);
    }
    scroll_bar();
    canvas.pop_clip();
  }
};

struct LegendEntry {
  std::string text;
  std::optional<BlockKind> block = std::nullopt;
  std::optional<MemoryKind> memory = std::nullopt;
  bool critical = false;  // none of these: the capacity
};

std::vector<LegendEntry> legend_entries(const TimelineIndex& index) {
  std::vector<LegendEntry> out;
  for (int k = 0; k < block_kinds; ++k)
    if (index.kinds[static_cast<std::size_t>(k)]) out.push_back({name_of(static_cast<BlockKind>(k)), static_cast<BlockKind>(k)});
  for (int k = 0; k < memory_kinds; ++k)
    if (index.memory_of[static_cast<std::size_t>(k)])
      out.push_back({std::string("memory: ") + name_of(static_cast<MemoryKind>(k)), std::nullopt, static_cast<MemoryKind>(k)});
  if (index.shows_capacity) out.push_back({"memory of a device"});
  if (index.critical) out.push_back({"critical path (C)", std::nullopt, std::nullopt, true});
  return out;
}

// Where each entry lies, in rows; the height of all.
template <class Put>
double lay_out_legend(const TimelineIndex& index, double width, Put&& put) {
  constexpr double row = 18;
  double x = 10, y = 4;
  for (const LegendEntry& e : legend_entries(index)) {
    const double entry = 20 + text_width(e.text, TextStyle::normal).value + 18;
    if (x + entry > width && x > 10) x = 10, y += row;
    put(e, x, y);
    x += entry;
  }
  return y + row + 4;
}

}  // namespace

double legend_height(const TimelineIndex& index, double width) {
  return lay_out_legend(index, width, [](const LegendEntry&, double, double) {});
}

void draw_legend(Canvas& canvas, const TimelineIndex& index, const Rect& area, const Theme& theme) {
  lay_out_legend(index, area.width, [&](const LegendEntry& e, double dx, double dy) {
    const double x = area.x + dx, y = area.y + dy;
    const Rect swatch{x, y + 3, 14, 12};
    if (e.block && is_idle(*e.block))
      canvas.hatch(swatch, colour_of(*e.block, theme), hatch_of(*e.block));
    else if (e.block) {
      canvas.fill(swatch, colour_of(*e.block, theme), 2);
      if (is_hatched(*e.block)) canvas.hatch(swatch, hatch_colour(*e.block, theme), hatch_of(*e.block));
    } else if (e.memory)
      canvas.fill(swatch, mix(theme.background, colour_of(*e.memory, theme), 0.62)),
          canvas.hatch(swatch, theme.background, hatch_of(*e.memory));
    else if (e.critical)
      canvas.fill({x, y + 12, 14, 3}, theme.capacity);
    else
      canvas.line({x, y + 9}, {x + 14, y + 9}, theme.capacity, 1, Dash::dashed);
    canvas.text({x + 20, y + 13}, e.text, TextStyle::normal, theme.text);
  });
}

void draw_timeline(Canvas& canvas, const TimelineModel& model, const TimelineIndex& index, const TimelineView& view,
                   const Rect& area, const Theme& theme) {
  Picture{canvas, model, index, view, theme, lay_out(model, view, area)}.draw();
}

}  // namespace planscope::viz
