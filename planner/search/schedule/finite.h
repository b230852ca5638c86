#pragma once
// Shorter schedules of all rounds, by Z3: is there one that ends by a given moment? Starts in order encoding, within what
// the longest paths leave; rounds of a task one after the other where equal rounds can be renamed so that they are.
//
//   const Shorter s = shorter(p, timeline, bound, deadline);   // s.timeline is not longer, s.bound not smaller
//
// The length is halved between bound and best; what Z3 proves impossible raises the bound. A length that is not decided in a
// quarter of the time left is passed over: longer ones are asked next, then shorter ones. Does nothing where the model would
// be larger than `largest` (tasks x rounds x moments).
#include "planner/search/schedule/timeline.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

constexpr std::int64_t kLargest = 20'000, kLargestProven = 1'000'000;  // the second where a user waits for the proof

struct Shorter {
  Timeline timeline;
  std::int64_t bound = 0;
};

// Some schedule, however long; `none` is a proof that the rounds do not fit in memory.
struct Fit {
  std::optional<Timeline> timeline;
  bool none = false;
};
Fit fit(const Problem&, const Deadline&);

Shorter shorter(const Problem&, Timeline, std::int64_t bound, const Deadline&, std::int64_t largest = kLargest);

}  // namespace planscope::schedule
