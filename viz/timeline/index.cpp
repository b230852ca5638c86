#include "viz/timeline/index.h"

#include <algorithm>

namespace planscope::viz {
namespace {

constexpr int group = 16;

void widen(ByteRange& range, const ByteRange& by) {
  range.least = std::min(range.least, by.least);
  range.greatest = std::max(range.greatest, by.greatest);
}

StreamIndex index_of(const Stream& stream) {
  StreamIndex index;
  std::array<double, block_kinds> sum{};
  for (std::size_t i = 0; i < stream.blocks.size(); ++i) {
    if (i % group == 0) index.until.push_back(sum);
    sum[static_cast<std::size_t>(stream.blocks[i].kind)] += stream.blocks[i].duration.value;
  }
  if (stream.blocks.size() % group == 0) index.until.push_back(sum);
  return index;
}

MemoryIndex index_of(const std::vector<MemoryStep>& steps) {
  std::vector<ByteRange> below;
  below.reserve(steps.size());
  for (const MemoryStep& s : steps) below.push_back({s.bytes.value, s.bytes.value});
  MemoryIndex index;
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
  for (const Lane& lane : model.lanes) {
    std::vector<StreamIndex>& streams = index.streams.emplace_back();
    for (const Stream& stream : lane.streams) {
      streams.push_back(index_of(stream));
      for (const Block& b : stream.blocks) index.kinds[static_cast<std::size_t>(b.kind)] = true;
    }
    index.memory.push_back(index_of(lane.memory));
  }
  return index;
}

Mixture mixture(const Stream& stream, const StreamIndex& index, int first, int last) {
  std::array<double, block_kinds> time{};
  const auto add = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      time[static_cast<std::size_t>(stream.blocks[i].kind)] += stream.blocks[i].duration.value;
  };
  const int low = (first + group - 1) / group, high = last / group;
  if (low < high) {
    add(first, low * group);
    for (std::size_t k = 0; k < time.size(); ++k) time[k] += index.until[high][k] - index.until[low][k];
    add(high * group, last);
  } else {
    add(first, last);
  }
  const auto idle = time.begin() + static_cast<int>(BlockKind::idle_warm_up);
  Mixture m;
  for (auto k = time.begin(); k != idle; ++k) m.work.value += *k;
  if (m.work.value > 0)
    for (auto k = time.begin(); k != idle; ++k) m.share[static_cast<std::size_t>(k - time.begin())] = *k / m.work.value;
  const auto most = m.work.value > 0 ? std::max_element(time.begin(), idle) : std::max_element(idle, time.end());
  m.kind = *most > 0 ? static_cast<BlockKind>(most - time.begin()) : stream.blocks[first].kind;
  return m;
}

ByteRange byte_range(const std::vector<MemoryStep>& steps, const MemoryIndex& index, int first, int last) {
  ByteRange range{steps[first].bytes.value, steps[first].bytes.value};
  const auto step = [&](int i) { widen(range, {steps[i].bytes.value, steps[i].bytes.value}); };
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
