#pragma once
// Shorter schedules of all rounds without proof: the starts of the best one, disturbed at random, are the order in which the next
// is packed and squeezed (sampling around a schedule: Kolisch, 1996). Deterministic, if work limits it before time does. `tries` in
// all, less where rounds are many.
#include "planner/search/schedule/timeline.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

Timeline improved(const Problem&, Timeline, std::int64_t bound, int tries, const Deadline&);

}  // namespace planscope::schedule
