#include "viz/timeline/draw.h"

#include <algorithm>
#include <cmath>

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

namespace {

struct Picture {
  Canvas& canvas;
  const TimelineModel& model;
  const TimelineIndex& index;
  const TimelineView& view;
  const Theme& theme;
  const TimelineLayout layout;

  void ruler() const {
    for (const Tick& tick : ticks(layout.scale, Pixels{90})) {
      const double x = std::round(layout.scale.to_x(tick.at).value);
      canvas.line({x, layout.ruler.y + 16}, {x, layout.area.bottom()}, theme.grid);
      if (x + text_width(tick.label, TextStyle::normal).value + 3 <= layout.area.right()) {
        canvas.text({x + 4, layout.ruler.y + 14}, tick.label, TextStyle::normal, theme.dim);
      }
    }
  }

  void labels() const {
    canvas.push_clip({layout.area.x, layout.body.y, layout.body.x - layout.area.x - 6, layout.body.height});
    for (std::size_t i = 0; i < layout.lanes.size(); ++i) {
      const Rect& r = layout.lanes[i].label;
      if (r.bottom() < layout.body.y || r.y > layout.body.bottom()) continue;
      const Lane& lane = model.lanes[i];
      const Pixels room{r.width - 20};
      canvas.text({r.x + 10, r.y + 11}, elided(lane.name, TextStyle::strong, room), TextStyle::strong, theme.text);
      const std::string devices = lane.devices == 1 ? "1 device" : std::to_string(lane.devices) + " devices";
      canvas.text({r.x + 10, r.y + 25}, elided(devices, TextStyle::normal, room), TextStyle::normal, theme.dim);
      memory_label(lane, layout.lanes[i].memory, r.x + 10, room);
    }
    canvas.pop_clip();
  }

  void memory_label(const Lane& lane, const Rect& r, double x, Pixels room) const {
    if (r.empty()) return;
    Bytes peak;
    const ByteRange all =
        byte_range(lane.memory, index.memory[&lane - model.lanes.data()], 0, static_cast<int>(lane.memory.size()));
    peak.value = all.greatest;
    canvas.text({x, r.y + 12}, elided("peak " + format_bytes(peak), TextStyle::small, room), TextStyle::small,
                theme.memory);
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
    const std::int32_t marked = highlighted();
    for (const Span& span : visible_spans(stream, index.streams[lane][s], layout.scale, default_fold)) {
      const double left = std::max(span.x, row.x - 4), right = std::min(span.x + span.width, row.right() + 4);
      if (span.last - span.first > 1) {
        folded({left, row.y, std::max(1.0, right - left), row.height}, span);
      } else {
        const Block& block = stream.blocks[span.first];
        const double gap = right - left > 4 ? 1 : 0;  // a hair of background between neighbours
        single({left, row.y, std::max(1.0, right - left - gap), row.height}, block,
               marked >= 0 && block.micro_batch == marked);
        if (view.marked.contains(block.instruction)) canvas.stroke(inset({left, row.y, std::max(1.0, right - left), row.height}, -1), theme.accent, 1.5, 2);
      }
    }
  }

  void folded(const Rect& r, const Span& span) const {
    if (is_idle(span.kind)) return canvas.hatch(r, colour_of(span.kind, theme));
    // A band for each kind, as high as its share: no kind disappears behind the one that takes longest.
    double top = r.y;
    for (int k = 0; k < block_kinds; ++k) {
      const auto kind = static_cast<BlockKind>(k);
      const double height = span.share[static_cast<std::size_t>(k)] * r.height;
      if (height <= 0) continue;
      canvas.fill({r.x, top, r.width, height}, mix(theme.background, colour_of(kind, theme), 0.25 + 0.75 * span.density));
      top += height;
    }
  }

  void single(const Rect& r, const Block& block, bool marked) const {
    const Colour colour = colour_of(block.kind, theme);
    if (is_idle(block.kind)) return idle(r, block.kind);
    canvas.fill(r, colour, r.width > 6 && r.height > 12 ? 2 : 0);
    if (marked && r.width > 4) canvas.stroke(r, theme.outline, 1, r.height > 12 ? 2 : 0);
    if (r.height < 14 || r.width < 14) return;
    const double x = std::max(r.x, layout.body.x) + 4;
    const std::string text = fitting_label(block, Pixels{r.right() - x - 2});
    canvas.text({x, r.y + std::round(r.height / 2) + 4}, text, TextStyle::strong, theme.on_block);
  }

  // Hatched, with the cause where there is room for it.
  void idle(const Rect& r, BlockKind kind) const {
    canvas.hatch(r, colour_of(kind, theme));
    const std::string cause = std::string(name_of(kind)).substr(6);
    const double x = std::max(r.x, layout.body.x) + 6;
    if (r.height < 14 || text_width(cause, TextStyle::small).value + 12 > r.right() - x) return;
    canvas.text({x, r.y + std::round(r.height / 2) + 4}, cause, TextStyle::small, theme.dim);
  }

  // The label, or the micro-batch alone, or nothing: never a part of a word.
  static std::string fitting_label(const Block& block, Pixels room) {
    if (text_width(block.label, TextStyle::strong) <= room) return block.label;
    const std::string number = block.micro_batch >= 0 ? std::to_string(block.micro_batch) : std::string();
    return text_width(number, TextStyle::strong) <= room ? number : std::string();
  }

  void memory(int lane) const {
    const Rect& r = layout.lanes[lane].memory;
    if (r.empty()) return;
    const std::vector<MemoryPoint> curve = memory_curve(model.lanes[lane], index.memory[lane], layout.scale);
    const double top = memory_top(lane);
    const auto y = [&](double bytes) { return r.bottom() - 1 - bytes / top * (r.height - 3); };
    std::vector<Point> line;
    for (const MemoryPoint& p : curve) {
      if (!line.empty() && p.x > line.back().x)
        canvas.fill({line.back().x, line.back().y, p.x - line.back().x, r.bottom() - line.back().y},
                    with_alpha(theme.memory, 0.13));
      line.push_back({p.x, y(p.bytes)});
    }
    canvas.polyline(std::move(line), theme.memory, 1);
    canvas.line({r.x, r.bottom()}, {r.right(), r.bottom()}, theme.grid);
    const double capacity = model.lanes[lane].capacity.value;
    if (capacity > 0 && capacity <= top)
      canvas.line({r.x, std::round(y(capacity))}, {r.right(), std::round(y(capacity))}, with_alpha(theme.capacity, 0.8),
                  1, Dash::dashed);
  }

  // The value at the top of a memory strip: the capacity, unless that would flatten the curve or is exceeded.
  double memory_top(int lane) const {
    const Lane& l = model.lanes[lane];
    const double peak = byte_range(l.memory, index.memory[lane], 0, static_cast<int>(l.memory.size())).greatest;
    const double capacity = l.capacity.value;
    if (capacity > 0 && peak > capacity / 8) return std::max(peak, capacity) * 1.02;
    return std::max(1.0, peak) * 1.1;
  }

  Rect rect_of(const BlockRef& ref) const {
    const Block& b = model.at(ref);
    const Rect& row = layout.lanes[ref.lane].streams[ref.stream];
    return {layout.scale.to_x(b.start).value, row.y, std::max(3.0, layout.scale.to_width(b.duration).value),
            row.height};
  }

  void links() const {
    if (!view.selection) return;
    for (const Link& link : model.links) {
      if (link.from != *view.selection && link.to != *view.selection) continue;
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

  void outlines() const {
    if (view.hover && view.hover != view.selection)
      canvas.stroke(rect_of(*view.hover), with_alpha(theme.outline, 0.7), 1, 2);
    if (!view.selection) return;
    const Rect r = rect_of(*view.selection);
    canvas.stroke(inset(r, -2), theme.accent, 2, 3);
  }

  // A vertical line with its label at the bottom, on a plate so that it can be read over anything.
  void flag(double x, const std::string& label, Colour colour, Dash dash) const {
    x = std::round(x);
    canvas.line({x, layout.ruler.y + 18}, {x, layout.area.bottom()}, colour, 1, dash);
    const double width = text_width(label, TextStyle::small).value + 8;
    const double left = x + 2 + width > layout.area.right() ? x - 2 - width : x + 2;
    canvas.fill({left, layout.area.bottom() - 16, width, 14}, theme.panel, 3);
    canvas.text({left + 4, layout.area.bottom() - 5}, label, TextStyle::small, theme.text);
  }

  void scroll_bar() const {
    if (layout.content_height <= layout.body.height) return;
    const double share = layout.body.height / layout.content_height;
    canvas.fill({layout.area.right() - 6, layout.body.y + view.scroll * share, 4, layout.body.height * share},
                with_alpha(theme.dim, 0.5), 2);
  }

  void draw() const {
    canvas.push_clip(layout.area);
    ruler();
    labels();
    canvas.push_clip({layout.body.x - 1, layout.body.y, layout.body.width + 2, layout.body.height});
    for (int l = 0; l < static_cast<int>(layout.lanes.size()); ++l) {
      const Rect& lane = layout.lanes[l].label;
      if (lane.bottom() < layout.body.y || lane.y > layout.body.bottom()) continue;
      for (int s = 0; s < static_cast<int>(layout.lanes[l].streams.size()); ++s) stream(l, s);
      memory(l);
    }
    critical();
    links();
    outlines();
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

}  // namespace

void draw_legend(Canvas& canvas, const TimelineIndex& index, const Rect& area, const Theme& theme) {
  double x = area.x + 10;
  for (int k = 0; k < block_kinds; ++k) {
    if (!index.kinds[static_cast<std::size_t>(k)]) continue;
    const auto kind = static_cast<BlockKind>(k);
    const std::string label = name_of(kind);
    const double entry = 20 + text_width(label, TextStyle::normal).value + 18;
    if (x + entry > area.right()) return;
    const Rect swatch{x, area.y + 7, 14, 12};
    if (is_idle(kind))
      canvas.hatch(swatch, colour_of(kind, theme));
    else
      canvas.fill(swatch, colour_of(kind, theme), 2);
    canvas.text({x + 20, area.y + 17}, label, TextStyle::normal, theme.text);
    x += entry;
  }
}

void draw_timeline(Canvas& canvas, const TimelineModel& model, const TimelineIndex& index, const TimelineView& view,
                   const Rect& area, const Theme& theme) {
  Picture{canvas, model, index, view, theme, lay_out(model, view, area)}.draw();
}

}  // namespace planscope::viz
