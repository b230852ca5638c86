#pragma once
// Plays the slots of all device classes against each other. Classes are advanced in turn, each until it waits for
// something that another has not done yet; times do not depend on the turn, because every stream is first in, first out.
#include <optional>
#include <vector>

#include "planner/simulate/memory_watch.h"
#include "planner/simulate/steps.h"

namespace planscope {

// Waiting of a compute stream, by when it happened in the life of its class; idle.h makes causes of it.
struct Waiting {
  Nanoseconds warm_up = 0;        // for data, until the first backward slot begins (none: until the first slot does)
  Nanoseconds steady = 0;         // for data, later
  Nanoseconds cool_down = 0;      // for data, after the last forward slot
  Nanoseconds communication = 0;  // for collectives
  Nanoseconds host = 0;           // for copies from host memory
  Nanoseconds host_tail = 0;      // by which copies to and from it end later than everything else
  bool receives = false;          // waits for data of other classes at all
};

struct Played {
  Simulation simulation;         // without idle time
  std::vector<Waiting> waiting;  // by class
  Nanoseconds origin = 0;        // of overlapping steps: when what is shown begins in what was played
};

// Work of a class as if it took another time: one run of a segment or all, one of its instructions or all.
struct OtherTime {
  int device_class = 0;
  SegmentId segment = -1;
  std::int64_t index = -1;  // SlotBlock::index; -1: every run
  int instruction = -1;     // -1: the whole slot
  Nanoseconds later = 0;    // it begins so much later
  bool no_time = false;     // it takes no time at all
};

// What is looked at besides, and what is to be otherwise.
struct Closer {
  std::vector<std::vector<Memory>>* kinds = nullptr;  // by class: filled, parallel to ClassTimeline::memory
  MemoryWatch* memory = nullptr;                      // of `device_class`
  int device_class = -1;
  std::optional<OtherTime> other = {};
  bool all_gaps = false;  // with SimulationOptions::gaps: those within slots too, wherever they are
};

Result<Played> play(const Program&, const Steps&, const SimulationOptions&, const Closer& = {});

}  // namespace planscope
