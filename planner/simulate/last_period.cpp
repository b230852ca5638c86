#include "planner/simulate/last_period.h"

#include <algorithm>
#include <limits>
#include <set>

namespace planscope {
namespace {

Nanoseconds lasted(const Lane& lane, std::size_t count, std::size_t before = 0) {
  const std::size_t last = lane.ends.size() - 1 - before;
  return lane.ends[last].now - lane.ends[last - count].now;
}

// After how many periods the times of all classes repeat; if they do not yet, as many as there are to look at.
std::size_t cycle(const std::vector<Lane>& lanes, std::size_t most) {
  for (std::size_t k = 1; k < most; ++k) {
    std::set<Nanoseconds> all;
    for (const Lane& lane : lanes)
      if (!lane.ends.empty()) all.insert({lasted(lane, k), lasted(lane, k, k)});
    if (all.size() <= 1) return k;
  }
  return most;
}

void average(Lane& lane, std::size_t k, ClassTimeline& out, Waiting& waiting) {
  const Tally &from = lane.ends[lane.ends.size() - 1 - k], &to = lane.ends.back();
  const auto each = [&](Nanoseconds a, Nanoseconds b) { return (b - a) / static_cast<Nanoseconds>(k); };
  out.compute = each(from.compute, to.compute);
  out.collective = each(from.collective, to.collective);
  out.transfer = each(from.transfer, to.transfer);
  out.host = each(from.host, to.host);
  for (std::size_t i = 0; i < out.sources.size(); ++i) out.sources[i] = each(from.sources[i], to.sources[i]);
  waiting.warm_up = each(from.waiting.warm_up, to.waiting.warm_up);
  waiting.steady = each(from.waiting.steady, to.waiting.steady);
  waiting.cool_down = each(from.waiting.cool_down, to.waiting.cool_down);
  waiting.communication = each(from.waiting.communication, to.waiting.communication);
  waiting.host = each(from.waiting.host, to.waiting.host);
  for (std::size_t t = 0; t < lane.traffic.size(); ++t) lane.traffic[t] = each(from.traffic[t], to.traffic[t]);
}

// What is shown begins when the first class begins the last period.
void cut_before_last_period(const Lane& lane, Nanoseconds origin, ClassTimeline& out,
                            std::vector<Memory>* kinds) {
  const int first = lane.last_period_from;
  out.slots.erase(out.slots.begin(), out.slots.begin() + first);
  for (SlotBlock& slot : out.slots) slot.start -= origin, slot.end -= origin;
  for (auto* list : {&out.communication, &out.instructions}) {
    std::erase_if(*list, [&](const InstructionBlock& b) { return b.slot < first; });
    for (InstructionBlock& b : *list) b.slot -= first, b.start -= origin, b.end -= origin;
  }
  const Nanoseconds begin = lane.ends[lane.ends.size() - 2].now;
  std::erase_if(out.gaps, [&](const Gap& g) { return g.start < begin; });
  for (Gap& g : out.gaps) g.start -= origin, g.end -= origin;
  const auto later =
      std::find_if(out.memory.begin() + 1, out.memory.end(), [&](const MemoryPoint& p) { return p.time > begin; });
  if (kinds) kinds->erase(kinds->begin(), kinds->begin() + (later - 1 - out.memory.begin()));
  out.memory.erase(out.memory.begin(), later - 1);
  for (MemoryPoint& p : out.memory) p.time = std::max<Nanoseconds>(0, p.time - origin);
  out.peak_time -= origin;
  out.peak_slot -= first;
  out.makespan = end_of(lane) - origin;
}

}  // namespace

void show_last_period(std::vector<Lane>& lanes, std::int64_t periods_played, const Closer& closer, Played& played) {
  Simulation& s = played.simulation;
  const std::size_t k = cycle(lanes, static_cast<std::size_t>(periods_played) / 2);
  Nanoseconds longest = 0, origin = std::numeric_limits<Nanoseconds>::max();
  for (const Lane& lane : lanes) {
    if (lane.ends.empty()) continue;
    longest = std::max(longest, lasted(lane, k));
    origin = std::min(origin, lane.ends[lane.ends.size() - 2].now);
  }
  const auto periods = static_cast<Nanoseconds>(k);
  s.step_ns = (longest + periods - 1) / periods;
  for (std::size_t c = 0; c < lanes.size(); ++c) {
    if (lanes[c].ends.empty()) continue;
    average(lanes[c], k, s.classes[c], played.waiting[c]);
    cut_before_last_period(lanes[c], origin, s.classes[c], closer.kinds ? &(*closer.kinds)[c] : nullptr);
  }
  played.origin = origin;
}

}  // namespace planscope
