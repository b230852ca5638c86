#pragma once
// What is shown of steps that overlap: once started, periods of every class take equal times, one by one or some of them
// together. The times of a step are the averages of these, and the timeline is that of the last period.
#include <cstdint>
#include <vector>

#include "planner/simulate/events.h"
#include "planner/simulate/lane.h"

namespace planscope {

// Of lanes that have played so many whole periods.
void show_last_period(std::vector<Lane>&, std::int64_t periods, const Closer&, Played&);

}  // namespace planscope
