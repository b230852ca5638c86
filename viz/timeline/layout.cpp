#include "viz/timeline/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace planscope::viz {
namespace {

constexpr double label_width = 128, ruler_height = 22, right_margin = 12;
constexpr double lane_gap = 14, compute_height = 24, operators_height = 14, communication_height = 9, stream_gap = 2,
                 memory_gap = 6, memory_height = 34, folded_height = 16,
                 label_height = 30, about_height = 40;  // of two lines of a label, and of three

double stream_height(const Stream& s) {
  return s.kind == StreamKind::compute ? compute_height : s.kind == StreamKind::operators ? operators_height : communication_height;
}

// Of the streams, and of what the label says beside them.
double streams_height(const Lane& lane) {
  double h = 0;
  for (const Stream& s : lane.streams) h += stream_height(s) + stream_gap;
  return lane.about.empty() ? h : std::max(h, about_height);
}

double lane_height(const Lane& lane, bool show_memory) {
  if (lane.folded) return folded_height;
  const double memory = show_memory && !lane.memory.empty() ? memory_gap + memory_height : 0;
  return std::max(streams_height(lane) + memory, label_height);
}

double gap_behind(const Lane& lane) { return lane.folded ? lane_gap / 2 : lane_gap; }

using BlockIterator = std::vector<Block>::const_iterator;

// The first block that ends behind `t`.
BlockIterator first_ending_behind(BlockIterator from, BlockIterator to, Microseconds t) {
  return std::partition_point(from, to, [t](const Block& b) { return b.end() <= t; });
}

// The first group, from `from` on, that starts at `t` or later; searched near `from` first, because runs are short.
std::size_t first_group_at(const std::vector<Microseconds>& starts, std::size_t from, Microseconds t) {
  std::size_t step = 1, low = from;
  while (low + step < starts.size() && starts[low + step] < t) low += step, step *= 2;
  const auto begin = starts.begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = starts.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, starts.size()));
  return static_cast<std::size_t>(std::lower_bound(begin, end, t) - starts.begin());
}

// The last step at or before t; -1: none. Searched from `from` on, near it first; that one is not later than t.
int step_before(const std::vector<MemoryStep>& steps, Microseconds t, int from = -1) {
  auto low = steps.begin(), high = steps.end();
  if (from >= 0) {
    std::ptrdiff_t step = 1;
    low += from;
    while (step < high - low && !(t < (low + step)->at)) low += step, step *= 2;
    if (step < high - low) high = low + step;
  }
  const auto it = std::upper_bound(low, high, t, [](Microseconds x, const MemoryStep& s) { return x < s.at; });
  return static_cast<int>(it - steps.begin()) - 1;
}

// The last of the steps from `from` on that fall before t; of many, the last whole group, which looks at no step.
int last_of_column(const std::vector<MemoryStep>& steps, const MemoryIndex& index, int from, Microseconds t) {
  const auto next = static_cast<std::size_t>(from / index_group + 1);
  if (next < index.times.size()) {
    const std::size_t behind = first_group_at(index.times, next, t);
    if (behind >= next + 5) return static_cast<int>(behind - 1) * index_group - 1;
  }
  return step_before(steps, t, from);
}

}  // namespace

double natural_height(const TimelineModel& model, bool show_memory) {
  double h = ruler_height + lane_gap;
  for (const Lane& lane : model.lanes) h += lane_height(lane, show_memory) + gap_behind(lane);
  return h;
}

TimelineLayout lay_out(const TimelineModel& model, const TimelineView& view, const Rect& area) {
  TimelineLayout out;
  out.area = area;
  out.ruler = {area.x + label_width, area.y, std::max(1.0, area.width - label_width - right_margin), ruler_height};
  out.body = {out.ruler.x, out.ruler.bottom(), out.ruler.width, std::max(0.0, area.height - ruler_height)};
  out.scale = {view.range, Pixels{out.body.x}, Pixels{out.body.width}};
  out.lanes.reserve(model.lanes.size());
  double y = out.body.y + lane_gap;
  bool pinned = true;
  out.scrolled = {area.x, out.body.y, area.width, out.body.height};
  for (const Lane& lane : model.lanes) {
    if (pinned && !lane.pinned) {
      pinned = false;
      if (!out.lanes.empty()) {
        out.scrolled.y = std::min(y - lane_gap / 2, out.body.bottom());
        out.scrolled.height = out.body.bottom() - out.scrolled.y;
      }
      y -= view.scroll;
    }
    LaneLayout& l = out.lanes.emplace_back();
    const double height = lane_height(lane, view.show_memory);
    const double indent = lane.is_device ? 10 : 0;
    l.label = {area.x + indent, y, label_width - indent, height};
    l.toggle = {l.label.x, y, 16, std::min(16.0, height)};
    double line = y;
    for (const Stream& s : lane.streams) {
      const bool seen = !lane.folded || &s == &lane.streams.front();
      const double h = lane.folded ? folded_height : stream_height(s);
      l.streams.push_back(seen ? Rect{out.body.x, line, out.body.width, h} : Rect{out.body.x, line, 0, 0});
      if (seen) line += h + stream_gap;
    }
    if (!lane.folded && view.show_memory && !lane.memory.empty())
      l.memory = {out.body.x, y + streams_height(lane) + memory_gap, out.body.width, memory_height};
    y += height + gap_behind(lane);
  }
  out.content_height = y + (pinned ? 0 : view.scroll) - out.body.y;
  return out;
}

bool in_sight(const TimelineModel& model, const TimelineLayout& layout, int lane, double y) {
  const bool pinned = model.lanes[static_cast<std::size_t>(lane)].pinned;
  return y < layout.body.bottom() && y >= (pinned ? layout.body.y : layout.scrolled.y);
}

std::vector<Tick> ticks(const TimeScale& scale, Pixels least_distance) {
  const double least = scale.to_duration(least_distance).value;
  if (!(least > 0) || !std::isfinite(least)) return {};
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = power;
  for (const double f : {1.0, 2.0, 5.0, 10.0}) {
    step = power * f;
    if (step >= least * (1 - 1e-9)) break;
  }
  const double far = std::max(std::fabs(scale.range.begin.value), std::fabs(scale.range.end.value));
  const double unit = far >= 1e6 ? 1e6 : far >= 1e3 ? 1e3 : 1;
  const char* name = unit == 1e6 ? " s" : unit == 1e3 ? " ms" : " µs";
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)));
  std::vector<Tick> out;
  const auto first = static_cast<std::int64_t>(std::ceil(scale.range.begin.value / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(scale.range.end.value / step + 1e-9));
  for (std::int64_t i = first; i <= last; ++i) {
    char text[48];
    std::snprintf(text, sizeof text, "%.*f%s", digits, static_cast<double>(i) * step / unit, name);
    out.push_back({Microseconds{static_cast<double>(i) * step}, text});
  }
  return out;
}

std::vector<Span> visible_spans(const Stream& stream, const StreamIndex& index, const TimeScale& scale, Pixels fold) {
  std::vector<Span> out;
  if (fold.value > 0) out.reserve(std::min(stream.blocks.size(), static_cast<std::size_t>(2 * scale.width.value / fold.value) + 2));
  const BlockIterator begin = stream.blocks.begin();
  const BlockIterator end =
      std::partition_point(begin, stream.blocks.end(), [&](const Block& b) { return b.start < scale.range.end; });
  const int count = static_cast<int>(end - begin);
  const Microseconds fold_time = scale.to_duration(fold);
  const auto add = [&](int first, int last, Microseconds start, Microseconds length) {
    Span span{scale.to_x(start).value, scale.to_width(length).value, first, last, BlockKind::forward, {}};
    const Mixture m = mixture(stream, index, first, last);
    span.kind = m.kind;
    if (length.value > 0)
      for (std::size_t k = 0; k < span.share.size(); ++k) span.share[k] = m.time[k] / length.value;
    out.push_back(span);
  };
  for (int b = static_cast<int>(first_ending_behind(begin, end, scale.range.begin) - begin); b < count;) {
    // Whole groups first: of a run of many blocks no block is looked at.
    if (b % index_group == 0) {
      const auto group = static_cast<std::size_t>(b / index_group);
      const Microseconds start = index.starts[group];
      std::size_t behind = first_group_at(index.starts, group, start + fold_time);
      if (behind > group + 1) --behind;  // it begins within the run
      const int last = static_cast<int>(behind) * index_group;
      if (behind > group && last <= count && behind < index.starts.size()) {
        const Microseconds length = index.ends_before[behind] - start;
        if (length <= fold_time) {
          add(b, last, start, length);
          b = last;
          continue;
        }
      }
    }
    const Block& first = stream.blocks[static_cast<std::size_t>(b)];
    const int most = (b / index_group + 1) * index_group;  // up to where the next group begins
    int next = b + 1;
    if (first.duration < fold_time)
      while (next < count && next < most && stream.blocks[static_cast<std::size_t>(next)].start < first.start + fold_time) ++next;
    const auto end_of_run = [&] { return stream.blocks[static_cast<std::size_t>(next - 1)].end(); };
    if (next != b + 1 && end_of_run() > first.start + 2 * fold_time) --next;  // a wide block stands by itself
    if (next - b == 1)
      out.push_back({scale.to_x(first.start).value, scale.to_width(first.duration).value, b, next, first.kind, {}});
    else
      add(b, next, first.start, end_of_run() - first.start);
    b = next;
  }
  return out;
}

std::vector<MemoryColumn> memory_columns(const Lane& lane, const MemoryIndex& index, const TimeScale& scale, Pixels least) {
  std::vector<MemoryColumn> out;
  const std::vector<MemoryStep>& steps = lane.memory;
  if (steps.empty()) return out;
  const double left = scale.left.value, right = left + scale.width.value;
  const auto add = [&](double x, double to, int step) {
    if (to > x && step >= 0) out.push_back({x, to - x, step});
  };
  int i = step_before(steps, scale.range.begin);  // what holds at x
  double x = left;
  while (x < right) {
    const int next = i + 1;
    const double until = next < static_cast<int>(steps.size()) ? std::min(right, scale.to_x(steps[next].at).value) : right;
    // What lasts is a column by itself, up to the pixels of the next change.
    const double whole = left + std::floor((until - left) / least.value) * least.value;
    if (until >= right || whole > x) {
      add(x, until >= right ? right : whole, i);
      x = until >= right ? right : whole;
      continue;
    }
    const double to = std::min(right, x + least.value);
    const int last = last_of_column(steps, index, std::max(0, i), scale.to_time(Pixels{to}));
    if (last <= i) {
      add(x, to, i);
    } else {
      const int first = std::max(0, i);
      add(x, to, byte_range(steps, index, first, last + 1).at);
    }
    i = std::max(i, last);
    x = to;
  }
  return out;
}

int memory_step_at(const Lane& lane, Microseconds t) { return step_before(lane.memory, t); }

Bytes memory_at(const Lane& lane, Microseconds t) {
  const int i = step_before(lane.memory, t);
  return i < 0 ? Bytes{} : lane.memory[i].bytes;
}

std::optional<BlockRef> hit_test(const TimelineModel& model, const TimelineLayout& layout, Point at) {
  if (!layout.body.contains(at)) return std::nullopt;
  const TimeScale& scale = layout.scale;
  const Microseconds t = scale.to_time(Pixels{at.x}), slack = scale.to_duration(Pixels{2});
  for (std::size_t l = 0; l < layout.lanes.size(); ++l) {
    for (std::size_t s = 0; s < layout.lanes[l].streams.size(); ++s) {
      if (!layout.lanes[l].streams[s].contains(at) || !in_sight(model, layout, static_cast<int>(l), at.y)) continue;
      const std::vector<Block>& blocks = model.lanes[l].streams[s].blocks;
      const auto hit = first_ending_behind(blocks.begin(), blocks.end(), t);
      const auto ref = [&](BlockIterator b) {
        return BlockRef{static_cast<int>(l), static_cast<int>(s), static_cast<int>(b - blocks.begin())};
      };
      if (hit != blocks.end() && hit->start <= t) return ref(hit);
      if (hit != blocks.end() && hit->start - t <= slack) return ref(hit);
      if (hit != blocks.begin() && t - (hit - 1)->end() <= slack) return ref(hit - 1);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

int lane_at(const TimelineModel& model, const TimelineLayout& layout, Point at) {
  for (int l = 0; l < static_cast<int>(layout.lanes.size()); ++l) {
    const Rect& label = layout.lanes[static_cast<std::size_t>(l)].label;
    if (at.y >= label.y && at.y < label.bottom() && at.x >= layout.area.x && at.x < layout.body.right() &&
        in_sight(model, layout, l, at.y))
      return l;
  }
  return -1;
}

int memory_lane_at(const TimelineModel& model, const TimelineLayout& layout, Point at) {
  const int l = lane_at(model, layout, at);
  return l >= 0 && layout.lanes[static_cast<std::size_t>(l)].memory.contains(at) ? l : -1;
}

Microseconds snapped(const TimelineModel& model, const TimelineLayout& layout, Point at, Pixels reach) {
  const Microseconds t = layout.scale.to_time(Pixels{at.x});
  const int l = lane_at(model, layout, at);
  if (l < 0) return t;
  const Lane& lane = model.lanes[static_cast<std::size_t>(l)];
  Microseconds best = t;
  double distance = reach.value + 1e-9;
  const auto offer = [&](Microseconds edge) {
    const double d = std::fabs(layout.scale.to_x(edge).value - at.x);
    if (d < distance) distance = d, best = edge;
  };
  if (lane.peak_at.value >= 0 && memory_lane_at(model, layout, at) == l) offer(lane.peak_at);
  const std::vector<Rect>& rows = layout.lanes[static_cast<std::size_t>(l)].streams;
  const bool on_row = std::any_of(rows.begin(), rows.end(), [&](const Rect& r) { return r.contains(at); });
  for (std::size_t s = 0; s < lane.streams.size(); ++s) {
    const std::vector<Block>& blocks = lane.streams[s].blocks;
    if (rows[s].empty() || (on_row && !rows[s].contains(at))) continue;
    const auto near = first_ending_behind(blocks.begin(), blocks.end(), t);
    if (near != blocks.end()) offer(near->start), offer(near->end());
    if (near != blocks.begin()) offer((near - 1)->end());
  }
  return best;
}

}  // namespace planscope::viz
