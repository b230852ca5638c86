#pragma once
// A problem with times in few units, for searches whose effort grows with the number of slots in a period.
//
//   rounded       to the nearest: its patterns are like the real ones; their order gets real times (retime.h)
//   rounded_down  of `period` in so many slots: whatever repeats within the period has a pattern here with that many slots
//                 (stretched to the period, then every start rounded down), so that there is none here is a proof
//
//   const std::int64_t slots = slots_for(p, 1'234'567, 64);
//   solve_period(rounded_down(p, 1'234'567, slots), slots, deadline)   // none: no pattern of p has a period <= 1'234'567
#include "planner/search/schedule/problem.h"

namespace planscope::schedule {

// The largest unit of which all times are multiples.
std::int64_t common_unit(const Problem&);

// A task that takes time takes at least one unit.
Problem rounded(const Problem&, std::int64_t unit);

Problem rounded_down(const Problem&, std::int64_t period, std::int64_t slots);

// The number of slots up to `most` at which rounding down takes the smallest part of a resource's work.
std::int64_t slots_for(const Problem&, std::int64_t period, std::int64_t most);

}  // namespace planscope::schedule
