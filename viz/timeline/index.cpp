#include "viz/timeline/index.h"

#include <algorithm>

namespace planscope::viz {
namespace {

constexpr int group = index_group;

void widen(ByteRange& range, const ByteRange& by) {
  range.least = std::min(range.least, by.least);
  if (by.greatest > range.greatest || (by.greatest == range.greatest && by.at < range.at))
    range.greatest = by.greatest, range.at = by.at;
}

StreamIndex index_of(const Stream& stream) {
  StreamIndex index;
  std::array<double, block_kinds> sum{};
  Microseconds end;
  const auto add = [&](Microseconds start) {
    index.starts.push_back(start);
    index.ends_before.push_back(end);
    index.until.push_back(sum);
  };
  for (std::size_t i = 0; i < stream.blocks.size(); ++i) {
    const Block& b = stream.blocks[i];
    if (i % group == 0) add(b.start);
    sum[static_cast<std::size_t>(b.kind)] += b.duration.value;
    end = b.end();
  }
  if (stream.blocks.size() % group == 0) add(end);
  return index;
}

MemoryIndex index_of(const std::vector<MemoryStep>& steps) {
  std::vector<ByteRange> below;
  below.reserve(steps.size());
  for (const MemoryStep& s : steps) below.push_back({s.bytes.value, s.bytes.value, static_cast<int>(below.size())});
  MemoryIndex index;
  for (std::size_t i = 0; i < steps.size(); i += group) index.times.push_back(steps[i].at);
  while (below.size() > group) {
    std::vector<ByteRange> level;
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (i % group == 0)
        level.push_back(below[i]);
      else
        widen(level.back(), below[i]);
    }
    index.levels.push_back(level);
    below = std::move(level);
  }
  return index;
}

}  // namespace

TimelineIndex build_index(const TimelineModel& model) {
  TimelineIndex index;
  double most = 0, capacity = 0;
  for (const Lane& lane : model.lanes) {
    std::vector<StreamIndex>& streams = index.streams.emplace_back();
    for (const Stream& stream : lane.streams) {
      streams.push_back(index_of(stream));
      for (const Block& b : stream.blocks) index.kinds[static_cast<std::size_t>(b.kind)] = true;
    }
    index.memory.push_back(index_of(lane.memory));
    for (const MemoryStep& m : lane.memory)
      for (std::size_t k = 0; k < m.kinds.size(); ++k)
        if (m.kinds[k].value != 0) index.memory_of[k] = true;
    index.peaks.push_back(
        lane.memory.empty() ? 0 : byte_range(lane.memory, index.memory.back(), 0, static_cast<int>(lane.memory.size())).greatest);
    most = std::max(most, index.peaks.back());
    capacity = std::max(capacity, lane.memory.empty() ? 0 : lane.capacity.value);
  }
  index.critical = !model.critical.empty();
  // The capacity belongs to the scale unless that would flatten all curves.
  index.memory_top = std::max(1.0, most > capacity / 8 ? std::max(most, capacity) * 1.02 : most * 1.1);
  index.shows_capacity = most > 0 && capacity > 0 && capacity <= index.memory_top;
  return index;
}

Mixture mixture(const Stream& stream, const StreamIndex& index, int first, int last) {
  Mixture m;
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      m.time[static_cast<std::size_t>(stream.blocks[i].kind)] += stream.blocks[i].duration.value;
  };
  const int low = (first + group - 1) / group, high = last / group;
  if (low < high) {
    add(first, low * group);
    for (std::size_t k = 0; k < m.time.size(); ++k) m.time[k] += index.until[high][k] - index.until[low][k];
    add(high * group, last);
  } else {
    add(first, last);
  }
  const auto idle = m.time.begin() + static_cast<int>(BlockKind::idle_warm_up);
  for (auto k = m.time.begin(); k != idle; ++k) m.work.value += *k;
  const auto most = m.work.value > 0 ? std::max_element(m.time.begin(), idle) : std::max_element(idle, m.time.end());
  m.kind = *most > 0 ? static_cast<BlockKind>(most - m.time.begin()) : stream.blocks[first].kind;
  return m;
}

ByteRange byte_range(const std::vector<MemoryStep>& steps, const MemoryIndex& index, int first, int last) {
  ByteRange range{steps[first].bytes.value, steps[first].bytes.value, first};
  const auto step = [&](int i) { widen(range, {steps[i].bytes.value, steps[i].bytes.value, i}); };
  while (first < last && first % group != 0) step(first++);
  while (first < last && last % group != 0) step(--last);
  for (const std::vector<ByteRange>& level : index.levels) {
    first /= group, last /= group;
    if (first >= last) return range;
    const bool top = &level == &index.levels.back();
    while (first < last && (top || first % group != 0)) widen(range, level[first++]);
    while (first < last && last % group != 0) widen(range, level[--last]);
  }
  for (int i = first; index.levels.empty() && i < last; ++i) step(i);
  return range;
}

}  // namespace planscope::viz
