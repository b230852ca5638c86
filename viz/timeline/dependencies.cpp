#include "viz/timeline/dependencies.h"

#include <algorithm>

namespace planscope::viz {
namespace {

constexpr int most_looked_at = 4096;  // blocks of a stream, in one direction

const std::vector<std::int32_t>& reads_of(const TimelineModel& m, const Block& b) {
  static const std::vector<std::int32_t> none;
  return b.instruction < 0 ? none : m.details[static_cast<std::size_t>(b.instruction)].reads;
}

bool contains(const std::vector<std::int32_t>& list, std::int32_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

}  // namespace

std::vector<Link> dependencies(const TimelineModel& m, const BlockRef& ref) {
  std::vector<Link> out;
  for (const Link& l : m.links)
    if (l.from == ref || l.to == ref) out.push_back(l);
  const Block& block = m.at(ref);
  if (block.instruction < 0) return out;
  std::vector<std::int32_t> missing = reads_of(m, block);
  const std::vector<Stream>& streams = m.lanes[static_cast<std::size_t>(ref.lane)].streams;
  for (int s = 0; s < static_cast<int>(streams.size()); ++s) {
    const std::vector<Block>& blocks = streams[static_cast<std::size_t>(s)].blocks;
    const auto at = std::partition_point(blocks.begin(), blocks.end(), [&](const Block& b) { return b.start < block.start; });
    const int here = static_cast<int>(at - blocks.begin());
    const auto same_run = [&](const Block& b) { return b.micro_batch == block.micro_batch && b.instruction >= 0; };
    for (int k = here - 1; k >= std::max(0, here - most_looked_at) && !missing.empty(); --k) {
      const Block& b = blocks[static_cast<std::size_t>(k)];
      const auto found = std::find(missing.begin(), missing.end(), b.instruction);
      if (!same_run(b) || found == missing.end()) continue;
      missing.erase(found);
      out.push_back({{ref.lane, s, k}, ref});
    }
    const int end = std::min(static_cast<int>(blocks.size()), here + most_looked_at);
    std::vector<std::int32_t> known;  // that read it in this run
    for (int k = here; k < end; ++k) {
      const Block& b = blocks[static_cast<std::size_t>(k)];
      if (BlockRef{ref.lane, s, k} == ref || !same_run(b)) continue;
      if (b.instruction == block.instruction) break;  // its next run
      if (!contains(reads_of(m, b), block.instruction) || contains(known, b.instruction)) continue;
      known.push_back(b.instruction);
      out.push_back({ref, {ref.lane, s, k}});
    }
  }
  return out;
}

}  // namespace planscope::viz
