#include "viz/timeline/reorder.h"

#include <algorithm>

namespace planscope::viz {

namespace {

// The next block, in that direction, of another task than `own`; -1: there is none.
int other_task(const TimelineModel& model, BlockRef ref, int step, const std::string& own) {
  const int count = static_cast<int>(model.lanes[static_cast<std::size_t>(ref.lane)].streams[static_cast<std::size_t>(ref.stream)].blocks.size());
  for (; ref.block >= 0 && ref.block < count; ref.block += step)
    if (const std::string task = task_of(model, ref); !task.empty() && task != own) return ref.block;
  return -1;
}

}  // namespace

std::string task_of(const TimelineModel& model, const BlockRef& ref) {
  const Stream& stream = model.lanes[static_cast<std::size_t>(ref.lane)].streams[static_cast<std::size_t>(ref.stream)];
  const Block& b = stream.blocks[static_cast<std::size_t>(ref.block)];
  if (stream.kind != StreamKind::compute || is_idle(b.kind) || b.instruction < 0) return "";
  const BlockDetail& d = model.details[static_cast<std::size_t>(b.instruction)];
  if (d.task.empty() || d.index_axes.empty()) return d.task;
  std::string index;
  std::int64_t left = b.micro_batch;
  for (auto axis = d.index_axes.rbegin(); axis != d.index_axes.rend(); ++axis) {
    const std::int64_t size = std::max<std::int64_t>(1, axis->second);
    index = axis->first + "=" + std::to_string(left % size) + (index.empty() ? "" : ", ") + index;
    left /= size;
  }
  return d.task + "[" + index + "]";
}

std::optional<Reorder> reorder(const TimelineModel& model, const TimelineLayout& layout, const BlockRef& moved, Point at) {
  const std::string own = task_of(model, moved);
  if (own.empty() || lane_at(model, layout, at) != moved.lane) return std::nullopt;
  const std::vector<Block>& blocks = model.lanes[static_cast<std::size_t>(moved.lane)].streams[static_cast<std::size_t>(moved.stream)].blocks;
  const Microseconds t = layout.scale.to_time(Pixels{at.x});
  // The first block whose middle lies behind: what is dropped comes before it.
  const auto behind = std::partition_point(blocks.begin(), blocks.end(), [&](const Block& b) { return b.start + b.duration * 0.5 < t; });
  BlockRef place = moved;
  place.block = static_cast<int>(behind - blocks.begin());
  const bool earlier = place.block <= moved.block;
  if (!earlier) --place.block;
  const int other = other_task(model, place, earlier ? 1 : -1, own);
  if (other < 0 || (earlier ? other > moved.block : other < moved.block)) return std::nullopt;
  const Block& b = blocks[static_cast<std::size_t>(other)];
  place.block = other;
  return Reorder{own, task_of(model, place), earlier, earlier ? b.start : b.end()};
}

}  // namespace planscope::viz
