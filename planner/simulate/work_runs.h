#pragma once
// Computations that follow each other in a segment with nothing between them that depends on which run of the segment it
// is: their sums, so that they are played at once. What is played is exactly what playing them one by one gives.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope {

struct Step;

struct WorkRun {
  std::size_t begin = 0, end = 0;             // steps of the segment
  Nanoseconds duration = 0;                   // of all of them; the first one that takes time begins at once
  std::array<Nanoseconds, 3> sources{};       // of `duration`
  Memory change = {};                         // what they leave, by kind
  std::int64_t bytes = 0;                     // the sum of `change`
  // Where memory is highest for the first time while one of them runs, against what it was before all of them.
  Nanoseconds highest_at = 0;
  std::int64_t highest_bytes = 0;
  Memory highest = {};
};

// The runs of two steps and more, in order.
std::vector<WorkRun> work_runs(const std::vector<Step>&);

}  // namespace planscope
