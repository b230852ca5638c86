#pragma once
// The simulation of a step that has been played: idle time by cause, times of segments, capacities.
#include "planner/simulate/events.h"

namespace planscope {

Simulation finished(const Program&, const Cluster&, const Steps&, Played, const SimulationOptions&);

}  // namespace planscope
