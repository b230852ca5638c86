#pragma once
// Makes causes of waiting. A class that works less than the busiest one has to wait for it in any order of its slots: so
// much of its idle time is imbalance, taken first from steady waiting, then from cool-down, then from warm-up. A class
// that never receives anything ends early through imbalance alone.
#include "planner/simulate/events.h"

namespace planscope {

Simulation attribute_idle(Played, bool gaps);  // SimulationOptions::gaps

}  // namespace planscope
