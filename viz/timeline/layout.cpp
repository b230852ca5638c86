#include "viz/timeline/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace planscope::viz {
namespace {

constexpr double label_width = 108, ruler_height = 22, right_margin = 12;
constexpr double lane_gap = 14, compute_height = 24, communication_height = 9, stream_gap = 2, memory_gap = 6,
                 memory_height = 34;

double stream_height(const Stream& s) { return s.kind == StreamKind::compute ? compute_height : communication_height; }

double lane_height(const Lane& lane, bool show_memory) {
  double h = 0;
  for (const Stream& s : lane.streams) h += stream_height(s) + stream_gap;
  if (show_memory && !lane.memory.empty()) h += memory_gap + memory_height;
  return std::max(h, 30.0);
}

using BlockIterator = std::vector<Block>::const_iterator;

// The first block that ends behind `t`.
BlockIterator first_ending_behind(BlockIterator from, BlockIterator to, Microseconds t) {
  return std::partition_point(from, to, [t](const Block& b) { return b.end() <= t; });
}

// The first block that starts at `t` or later; searched near `from` first, because runs are short.
BlockIterator first_starting_at(BlockIterator from, BlockIterator to, Microseconds t) {
  std::ptrdiff_t step = 1;
  BlockIterator low = from;
  while (step < to - low && (low + step)->start < t) low += step, step *= 2;
  return std::partition_point(low, low + std::min(step, to - low), [t](const Block& b) { return b.start < t; });
}

int step_before(const std::vector<MemoryStep>& steps, Microseconds t) {  // the last step at or before t; -1: none
  const auto it =
      std::upper_bound(steps.begin(), steps.end(), t, [](Microseconds x, const MemoryStep& s) { return x < s.at; });
  return static_cast<int>(it - steps.begin()) - 1;
}

}  // namespace

double natural_height(const TimelineModel& model, bool show_memory) {
  double h = ruler_height + lane_gap;
  for (const Lane& lane : model.lanes) h += lane_height(lane, show_memory) + lane_gap;
  return h;
}

TimelineLayout lay_out(const TimelineModel& model, const TimelineView& view, const Rect& area) {
  TimelineLayout out;
  out.area = area;
  out.ruler = {area.x + label_width, area.y, std::max(1.0, area.width - label_width - right_margin), ruler_height};
  out.body = {out.ruler.x, out.ruler.bottom(), out.ruler.width, std::max(0.0, area.height - ruler_height)};
  out.scale = {view.range, Pixels{out.body.x}, Pixels{out.body.width}};
  const double top = out.body.y + lane_gap - view.scroll;
  double y = top;
  for (const Lane& lane : model.lanes) {
    LaneLayout& l = out.lanes.emplace_back();
    const double height = lane_height(lane, view.show_memory);
    l.label = {area.x, y, label_width, height};
    double line = y;
    for (const Stream& s : lane.streams) {
      l.streams.push_back({out.body.x, line, out.body.width, stream_height(s)});
      line += stream_height(s) + stream_gap;
    }
    if (view.show_memory && !lane.memory.empty())
      l.memory = {out.body.x, line + memory_gap, out.body.width, memory_height};
    y += height + lane_gap;
  }
  out.content_height = y - top + lane_gap;
  return out;
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
  const BlockIterator begin = stream.blocks.begin();
  const BlockIterator end =
      std::partition_point(begin, stream.blocks.end(), [&](const Block& b) { return b.start < scale.range.end; });
  const Microseconds fold_time = scale.to_duration(fold);
  for (BlockIterator b = first_ending_behind(begin, end, scale.range.begin); b != end;) {
    const double x = scale.to_x(b->start).value;
    BlockIterator next = b + 1;
    if (b->duration < fold_time) next = std::max(next, first_starting_at(b, end, b->start + fold_time));
    if (next != b + 1 && (next - 1)->end() > b->start + 2 * fold_time) --next;  // a wide block stands by itself
    const int first = static_cast<int>(b - begin), last = static_cast<int>(next - begin);
    const Microseconds length = (next - 1)->end() - b->start;
    if (last - first == 1) {
      out.push_back({x, scale.to_width(length).value, first, last, b->kind, 1});
    } else {
      const Mixture m = mixture(stream, index, first, last);
      out.push_back({x, scale.to_width(length).value, first, last, m.kind,
                     length.value > 0 ? std::min(1.0, m.work / length) : 1, m.share});
    }
    b = next;
  }
  return out;
}

std::vector<MemoryPoint> memory_curve(const Lane& lane, const MemoryIndex& index, const TimeScale& scale) {
  std::vector<MemoryPoint> out;
  const std::vector<MemoryStep>& steps = lane.memory;
  if (steps.empty()) return out;
  const double left = scale.left.value, right = left + scale.width.value;
  int i = step_before(steps, scale.range.begin);
  double bytes = i < 0 ? 0 : steps[i].bytes.value;
  out.push_back({left, bytes});
  for (++i; i < static_cast<int>(steps.size()) && steps[i].at < scale.range.end;) {
    const double x = scale.to_x(steps[i].at).value;
    const int last = step_before(steps, scale.to_time(Pixels{std::floor(x) + 1}));
    const int behind = std::max(last, i) + 1;
    out.push_back({x, bytes});
    if (behind - i > 2) {
      const ByteRange r = byte_range(steps, index, i, behind);
      out.push_back({x, r.least});
      out.push_back({x, r.greatest});
    } else if (behind - i == 2) {
      out.push_back({x, steps[i].bytes.value});
    }
    bytes = steps[behind - 1].bytes.value;
    out.push_back({x, bytes});
    i = behind;
  }
  out.push_back({right, bytes});
  return out;
}

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
      if (!layout.lanes[l].streams[s].contains(at)) continue;
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

}  // namespace planscope::viz
