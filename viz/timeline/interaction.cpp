#include "viz/timeline/interaction.h"

#include "viz/timeline/reorder.h"

#include <algorithm>
#include <cmath>

namespace planscope::viz {
namespace {

constexpr double zoom_per_notch = 0.8, pan_share = 0.1, drag_threshold = 3, scroll_per_notch = 60, snap = 6;

TimeRange whole(const TimelineModel& model) {
  return {Microseconds{0}, model.duration.value > 0 ? model.duration : Microseconds{1}};
}

TimeRange clamped(const TimeRange& range, const TimelineModel& model) {
  const TimeRange all = whole(model);
  return clamp_to(range, all, std::max(Microseconds{1e-3}, all.length() * 1e-9));
}

double clamped_scroll(double scroll, const TimelineLayout& layout) {
  return std::clamp(scroll, 0.0, std::max(0.0, layout.content_height - layout.body.height));
}

std::optional<BlockRef> neighbour(const TimelineModel& model, BlockRef ref, int step) {
  const std::vector<Block>& blocks = model.lanes[ref.lane].streams[ref.stream].blocks;
  for (ref.block += step; ref.block >= 0 && ref.block < static_cast<int>(blocks.size()); ref.block += step) {
    if (!is_idle(blocks[ref.block].kind)) return ref;
  }
  return std::nullopt;
}

// The block of another lane's first stream that runs when the selected one begins, or the next one.
std::optional<BlockRef> in_lane(const TimelineModel& model, const BlockRef& from, int lane) {
  if (lane < 0 || lane >= static_cast<int>(model.lanes.size()) || model.lanes[lane].streams.empty())
    return std::nullopt;
  const std::vector<Block>& blocks = model.lanes[lane].streams[0].blocks;
  const Microseconds t = model.at(from).start;
  const auto it = std::partition_point(blocks.begin(), blocks.end(), [t](const Block& b) { return b.end() <= t; });
  BlockRef ref{lane, 0, static_cast<int>(it - blocks.begin())};
  if (it != blocks.end() && !is_idle(it->kind)) return ref;
  const auto after = neighbour(model, ref, 1);
  return after ? after : neighbour(model, ref, -1);
}

std::optional<BlockRef> first_block(const TimelineModel& model) {
  for (int l = 0; l < static_cast<int>(model.lanes.size()); ++l) {
    for (int s = 0; s < static_cast<int>(model.lanes[l].streams.size()); ++s) {
      if (const auto ref = neighbour(model, {l, s, -1}, 1)) return ref;
    }
  }
  return std::nullopt;
}

std::optional<BlockRef> step_selection(const TimelineModel& model, const TimelineView& view, TimelineKey key) {
  if (!view.selection) return first_block(model);
  switch (key) {
    case TimelineKey::next:
      return neighbour(model, *view.selection, 1);
    case TimelineKey::previous:
      return neighbour(model, *view.selection, -1);
    case TimelineKey::lane_up:
      return in_lane(model, *view.selection, view.selection->lane - 1);
    default:
      return in_lane(model, *view.selection, view.selection->lane + 1);
  }
}

Microseconds middle_of(const Block& block) { return block.start + block.duration * 0.5; }

// What is selected, with some of what is around it; once it is shown so, everything.
TimelineView fit_selection_or_all(TimelineView view, const TimelineModel& model, const Rect& area) {
  const bool range = !view.selection && view.time && view.time->length().value > 0;
  if (!view.selection && !range) return fit(view, model);
  const TimeRange of = range ? *view.time : TimeRange{model.at(*view.selection).start, model.at(*view.selection).end()};
  const Microseconds middle = (of.begin + of.end) * 0.5;
  const Microseconds half = std::max(of.length(), Microseconds{1e-3}) * (range ? 0.55 : 0.75);
  const TimeRange wanted = clamped({middle - half, middle + half}, model);
  const auto near = [&](Microseconds a, Microseconds b) { return std::fabs(a.value - b.value) < half.value * 1e-3; };
  if (near(view.range.begin, wanted.begin) && near(view.range.end, wanted.end)) return fit(view, model);
  view.range = wanted;
  return view.selection ? select(view, model, *view.selection, area) : view;
}

// The time under the mouse, at the edge of a block where one is near; without a mouse the selection's begin.
Microseconds mark_at(const TimelineView& view, const TimelineLayout& layout, const TimelineModel& model) {
  if (!view.mouse || !layout.body.contains(*view.mouse))
    return view.selection ? model.at(*view.selection).start : (view.range.begin + view.range.end) * 0.5;
  return snapped(model, layout, *view.mouse, Pixels{snap});
}

TimelineView apply_key(TimelineView view, TimelineKey key, const TimelineModel& model, const Rect& area) {
  const TimelineLayout layout = lay_out(model, view, area);
  const bool over_body = view.mouse && layout.body.contains(*view.mouse);
  // About the selection, which then stays where it is; else about the mouse; else about the middle.
  if (view.selection && (key == TimelineKey::zoom_in || key == TimelineKey::zoom_out))
    view = select(view, model, *view.selection, area);
  const Microseconds about = view.selection ? middle_of(model.at(*view.selection))
                             : over_body    ? layout.scale.to_time(Pixels{view.mouse->x})
                                            : (view.range.begin + view.range.end) * 0.5;
  const Microseconds step = view.range.length() * pan_share;
  switch (key) {
    case TimelineKey::zoom_in:
      view.range = clamped(zoom(view.range, about, zoom_per_notch), model);
      break;
    case TimelineKey::zoom_out:
      view.range = clamped(zoom(view.range, about, 1 / zoom_per_notch), model);
      break;
    case TimelineKey::left:
      view.range = clamped(pan(view.range, -step), model);
      break;
    case TimelineKey::right:
      view.range = clamped(pan(view.range, step), model);
      break;
    case TimelineKey::fit:
      return fit_selection_or_all(view, model, area);
    case TimelineKey::fit_all:
      return fit(view, model);
    case TimelineKey::deselect:
      view.selection.reset();
      view.marks.clear();
      break;
    case TimelineKey::mark:
      view.marks.push_back(mark_at(view, layout, model));
      if (view.marks.size() > 2) view.marks.erase(view.marks.begin());
      break;
    case TimelineKey::next:
    case TimelineKey::previous:
    case TimelineKey::lane_up:
    case TimelineKey::lane_down:
      if (const auto ref = step_selection(model, view, key)) return select(view, model, *ref, area);
      break;
  }
  return view;
}

TimelineView apply_wheel(TimelineView view, const TimelineInput& input, const TimelineModel& model,
                         const TimelineLayout& layout) {
  if (input.control) {
    view.scroll = clamped_scroll(view.scroll - input.wheel * scroll_per_notch, layout);
  } else if (input.shift) {
    view.range = clamped(pan(view.range, view.range.length() * (-input.wheel * pan_share)), model);
  } else if (input.mouse && input.mouse->x >= layout.body.x) {
    const Microseconds about = layout.scale.to_time(Pixels{input.mouse->x});
    view.range = clamped(zoom(view.range, about, std::pow(zoom_per_notch, input.wheel)), model);
  } else {
    view.scroll = clamped_scroll(view.scroll - input.wheel * scroll_per_notch, layout);
  }
  return view;
}

}  // namespace

TimelineView fit(TimelineView view, const TimelineModel& model) {
  view.range = whole(model);
  view.scroll = 0;
  return view;
}

bool shows_all(const TimelineView& view, const TimelineModel& model) { return view.range == whole(model); }

TimelineView carry_over(TimelineView view, const TimelineModel& before, const TimelineModel& now) {
  const std::optional<BlockRef> selected = view.selection;
  view.hover.reset();
  view.selection = selected ? find_again(before, *selected, now) : std::nullopt;
  if (shows_all(view, before))
    view.range = whole(now);
  else
    view.range = clamped(view.range, now);
  return view;
}

TimelineView select(TimelineView view, const TimelineModel& model, const BlockRef& ref, const Rect& area) {
  view.selection = ref;
  const Block& block = model.at(ref);
  if (block.start < view.range.begin || block.end() > view.range.end) {
    const Microseconds middle = block.start + block.duration * 0.5;
    const Microseconds half = std::max(view.range.length(), block.duration * 1.25) * 0.5;
    view.range = clamped({middle - half, middle + half}, model);
  }
  const TimelineLayout layout = lay_out(model, view, area);
  const Rect& lane = layout.lanes[ref.lane].label;
  const double top = layout.scrolled.y;
  if (model.lanes[static_cast<std::size_t>(ref.lane)].pinned) return view;
  if (lane.y < top)
    view.scroll -= top - lane.y;
  else if (lane.bottom() > layout.body.bottom())
    view.scroll += std::min(lane.bottom() - layout.body.bottom(), lane.y - top);
  view.scroll = clamped_scroll(view.scroll, layout);
  return view;
}

TimelineView apply(TimelineView view, const TimelineInput& input, const TimelineModel& model, const Rect& area) {
  const std::optional<Point> before = view.mouse;
  view.mouse = input.mouse;
  const TimelineLayout layout = lay_out(model, view, area);
  if (input.wheel != 0) view = apply_wheel(view, input, model, layout);
  if (input.pressed) {
    view.press = input.mouse, view.dragging = false, view.selecting = input.shift;
    view.moving = input.control && input.mouse ? hit_test(model, layout, *input.mouse) : std::nullopt;
    if (view.moving && task_of(model, *view.moving).empty()) view.moving.reset();
  }
  if (view.press && input.mouse && before) {
    const Point d{input.mouse->x - view.press->x, input.mouse->y - view.press->y};
    const bool starts = !view.dragging && std::hypot(d.x, d.y) >= drag_threshold;
    const Point from = starts ? *view.press : *before;
    view.dragging = view.dragging || starts;
    if (view.dragging && !view.selecting && !view.moving) {
      view.range = clamped(pan(view.range, -layout.scale.to_duration(Pixels{input.mouse->x - from.x})), model);
      view.scroll = clamped_scroll(view.scroll - (input.mouse->y - from.y), layout);
    }
  }
  const TimelineLayout moved = lay_out(model, view, area);
  view.hover = input.mouse && !view.dragging ? hit_test(model, moved, *input.mouse) : std::nullopt;
  if (input.released) {
    if (view.press && !view.dragging && input.mouse) view.selection = view.hover;
    view.press.reset();
    view.dragging = view.selecting = false;
    view.moving.reset();
  }
  for (const TimelineKey key : input.keys) view = apply_key(view, key, model, area);
  view.scroll = clamped_scroll(view.scroll, lay_out(model, view, area));
  return view;
}

std::optional<SelectedArea> drawn_area(const TimelineView& view, const TimelineModel& model, const Rect& area) {
  if (!view.selecting || !view.dragging || !view.press || !view.mouse) return std::nullopt;
  const TimelineLayout layout = lay_out(model, view, area);
  const auto inside = [&](Point p) {
    return Point{std::clamp(p.x, layout.body.x, layout.body.right()), std::clamp(p.y, layout.body.y, layout.body.bottom())};
  };
  const Point a = inside(*view.press), b = inside(*view.mouse);
  const auto time = [&](Point p) {
    return std::clamp(snapped(model, layout, p, Pixels{snap}), Microseconds{0}, std::max(Microseconds{0}, model.duration));
  };
  SelectedArea out{{std::min(time(a), time(b)), std::max(time(a), time(b))}, {}};
  bool all = true;
  for (int l = 0; l < static_cast<int>(layout.lanes.size()); ++l) {
    const Rect& lane = layout.lanes[static_cast<std::size_t>(l)].label;
    const double top = model.lanes[static_cast<std::size_t>(l)].pinned ? layout.body.y : layout.scrolled.y;
    const bool meets = std::max(lane.y, top) <= std::max(a.y, b.y) && lane.bottom() >= std::max(top, std::min(a.y, b.y));
    const std::string& name = session_name(model, l);
    if (!meets)
      all = false;
    else if (std::find(out.lanes.begin(), out.lanes.end(), name) == out.lanes.end())
      out.lanes.push_back(name);
  }
  if (all) out.lanes.clear();
  return out;
}

std::vector<std::string> memory_tooltip(const TimelineModel& model, int lane, Microseconds t) {
  const Lane& l = model.lanes[static_cast<std::size_t>(lane)];
  const int step = memory_step_at(l, t);
  if (step < 0) return {};
  const MemoryStep& m = l.memory[static_cast<std::size_t>(step)];
  std::vector<std::string> lines{l.name + " at " + format_time(t) + ": " + format_bytes(m.bytes) +
                                 (l.capacity.value > 0 ? " of " + format_bytes(l.capacity) : "")};
  for (int k = 0; k < memory_kinds; ++k)
    if (const Bytes b = m.kinds[static_cast<std::size_t>(k)]; b.value != 0)
      lines.push_back(format_bytes(b) + " " + name_of(static_cast<MemoryKind>(k)));
  if (l.peak_at.value < 0 || std::fabs((t - l.peak_at).value) > 1e-3) return lines;
  lines[0] = "peak of " + lines[0];
  for (const AliveLine& a : l.alive) lines.push_back(format_bytes(a.bytes) + "  " + a.what);
  return lines;
}

std::vector<std::string> tooltip(const TimelineModel& model, const BlockRef& ref) {
  const Lane& lane = model.lanes[ref.lane];
  const Block& block = model.at(ref);
  std::vector<std::string> lines;
  if (!block.label.empty()) lines.push_back(block.label);
  lines.push_back(std::string(name_of(block.kind)) +
                  (block.micro_batch >= 0 ? " · micro-batch " + std::to_string(block.micro_batch) : ""));
  lines.push_back(format_time(block.duration) + ", from " + format_time(block.start) + " to " +
                  format_time(block.end()));
  lines.push_back(lane.name + " · " + lane.streams[ref.stream].name);
  if (!lane.memory.empty()) lines.push_back("memory at its end: " + format_bytes(memory_at(lane, block.end())));
  return lines;
}

}  // namespace planscope::viz
