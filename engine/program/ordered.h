#pragma once
// What an `order` row comes to in a Program: runs of segments that it puts in order on the devices that run both.
//
// Run i of `before` comes before run i + distance of `after`, for `count` runs from `first` on. A run is counted along the
// free axes of its segment, the last axis fastest. Rows over training steps are not told.
#include "engine/program/program.h"

namespace planscope {

struct OrderedRuns {
  int statement = -1;  // of Decisions
  SegmentId before = -1, after = -1;
  std::int64_t distance = 0, first = 0, count = 0;
  bool operator==(const OrderedRuns&) const = default;
};

}  // namespace planscope
