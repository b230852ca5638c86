#include "viz/timeline/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace planscope::viz {
namespace {

// Three significant digits at least, no trailing zeros behind the point.
std::string significant(double v) {
  char text[32];
  const double magnitude = std::fabs(v);
  std::snprintf(text, sizeof text, magnitude >= 100 ? "%.1f" : magnitude >= 10 ? "%.1f" : "%.2f", v);
  std::string s = text;
  if (s.find('.') != std::string::npos) {
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
  }
  return s == "-0" ? "0" : s;
}

}  // namespace

const char* name_of(BlockKind kind) {
  constexpr std::array<const char*, block_kinds> names{"forward",
                                                       "backward",
                                                       "weight gradient",
                                                       "update",
                                                       "communication",
                                                       "idle: warm-up",
                                                       "idle: cool-down",
                                                       "idle: imbalance",
                                                       "idle: waiting for data",
                                                       "idle: waiting for communication",
                                                       "idle: waiting for memory"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(MemoryKind kind) {
  constexpr std::array<const char*, memory_kinds> names{"parameters", "optimizer state", "gradients", "activations",
                                                        "communication buffers"};
  return names[static_cast<std::size_t>(kind)];
}

std::string first_problem(const TimelineModel& model) {
  const double tolerance = 1e-6 * std::max(1.0, model.duration.value);
  for (const Lane& lane : model.lanes) {
    for (const Stream& stream : lane.streams) {
      const std::string where = lane.name + ", " + stream.name + ": block ";
      double last = 0;
      for (std::size_t i = 0; i < stream.blocks.size(); ++i) {
        const Block& b = stream.blocks[i];
        if (!(b.duration.value >= 0)) return where + std::to_string(i) + " has no duration";
        if (!(b.start.value >= last - tolerance)) {
          return where + std::to_string(i) +
                 (i == 0 ? " begins before 0" : " begins before block " + std::to_string(i - 1) + " ends");
        }
        last = b.end().value;
        if (!(last <= model.duration.value + tolerance)) return where + std::to_string(i) + " ends behind the timeline";
      }
    }
    for (std::size_t i = 1; i < lane.memory.size(); ++i) {
      if (lane.memory[i].at < lane.memory[i - 1].at)
        return lane.name + ": memory step " + std::to_string(i) + " is out of order";
    }
    for (std::size_t i = 0; i < lane.memory.size(); ++i) {
      double sum = 0;
      for (const Bytes& b : lane.memory[i].kinds) sum += b.value;
      if (sum != 0 && std::fabs(sum - lane.memory[i].bytes.value) > 1e-9 * std::fabs(sum))
        return lane.name + ": the kinds of memory step " + std::to_string(i) + " do not sum to it";
    }
  }
  return {};
}

const std::string& session_name(const TimelineModel& m, int lane) {
  const auto at = [&](int l) -> const Lane& { return m.lanes[static_cast<std::size_t>(l)]; };
  const bool rest = at(lane).is_device && at(lane).devices > 1;
  while (rest && lane > 0 && at(lane).is_device) --lane;
  return at(lane).name;
}

std::optional<BlockRef> find_again(const TimelineModel& before, const BlockRef& ref, const TimelineModel& now) {
  const Lane& old_lane = before.lanes[ref.lane];
  const std::string& old_stream = old_lane.streams[ref.stream].name;
  const Block& old = before.at(ref);
  for (int l = 0; l < static_cast<int>(now.lanes.size()); ++l) {
    if (now.lanes[l].name != old_lane.name) continue;
    for (int s = 0; s < static_cast<int>(now.lanes[l].streams.size()); ++s) {
      const Stream& stream = now.lanes[l].streams[s];
      if (stream.name != old_stream) continue;
      for (int b = 0; b < static_cast<int>(stream.blocks.size()); ++b) {
        const Block& x = stream.blocks[b];
        if (x.instruction == old.instruction && x.micro_batch == old.micro_batch && x.kind == old.kind &&
            x.label == old.label)
          return BlockRef{l, s, b};
      }
    }
  }
  return std::nullopt;
}

std::string format_time(Microseconds t) {
  const double us = std::fabs(t.value);
  if (us == 0) return "0";
  if (us < 1) return significant(t.value * 1e3) + " ns";
  if (us < 1e3) return significant(t.value) + " µs";
  if (us < 1e6) return significant(t.value / 1e3) + " ms";
  return significant(t.value / 1e6) + " s";
}

std::string format_bytes(Bytes b) {
  constexpr std::array<const char*, 6> units{" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
  std::size_t unit = 0;
  double v = b.value;
  while (std::fabs(v) >= 1024 && unit + 1 < units.size()) v /= 1024, ++unit;
  return significant(v) + units[unit];
}

}  // namespace planscope::viz
