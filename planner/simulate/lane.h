#pragma once
// A device class while its slots are played: where it is, what it has under way, and what it has done so far.
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "planner/simulate/events.h"
#include "planner/simulate/link_use.h"
#include "planner/simulate/memory_track.h"
#include "planner/simulate/slot_cursor.h"
#include "planner/simulate/under_way.h"

namespace planscope {

// Copies of one class to and from host memory.
struct HostCopies {
  UnderWay there, back;
  Nanoseconds offload_free = 0, restore_free = 0;  // the streams
  std::int64_t bytes = 0;
};

// What a class has done so far.
struct Tally {
  Nanoseconds now = 0, compute = 0, collective = 0, transfer = 0, host = 0;
  std::array<Nanoseconds, 3> sources{};
  Waiting waiting;
  std::vector<std::int64_t> traffic;
};

struct Lane {  // of one device class
  int index = 0;
  SlotCursor cursor;
  std::vector<std::vector<std::int64_t>> last;  // by segment: the index of its last run in a step
  bool last_run = false;
  std::size_t step = 0, work_run = 0;  // of the segment: the next ones
  bool in_slot = false;
  Nanoseconds now = 0;
  LinkUse links;
  HostCopies copies;
  bool meeting = false;  // its last collective waits for other classes
  int first_backward = -1, last_forward = -1;
  UnderWay under_way;
  Begun begun, offloaded;  // what is issued; what several runs save and is in host memory
  RunCounts runs, taken_away,
      brought_back;  // for one value: of pieces that it ends with, of copies to host memory and from there
  MemoryTrack memory;
  std::vector<std::int64_t> traffic;
  std::vector<Tally> ends;   // of periods, where steps overlap; the first one begins the first period
  int last_period_from = 0;  // ordinal of its first slot
  Lane(int number, const Program& p, const DeviceClass& c, std::int64_t periods, const Steps& steps, bool alive,
       ClassTimeline& out, const Closer& closer)
      : index(number),
        cursor(c, periods),
        last(last_indices(p, c)),
        memory(steps.standing[static_cast<std::size_t>(number)], alive, out,
               closer.kinds ? &(*closer.kinds)[static_cast<std::size_t>(number)] : nullptr,
               closer.device_class == number ? closer.memory : nullptr),
        traffic(steps.traffic.size(), 0) {}
};

// When its links, and its copies too, have nothing to do any more.
inline Nanoseconds links_free(const Lane& lane) {
  return std::max(
      {lane.links.free(Stream::collective), lane.links.free(Stream::network), lane.links.free(Stream::transfer)});
}
inline Nanoseconds end_of(const Lane& lane) {
  return std::max({lane.now, links_free(lane), lane.copies.offload_free, lane.copies.restore_free});
}

}  // namespace planscope
