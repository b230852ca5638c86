#include "planner/simulate/finish.h"

#include "planner/cost/device_kinds.h"
#include "planner/simulate/alone.h"
#include "planner/simulate/idle.h"

namespace planscope {

Simulation finished(const Program& program, const Cluster& cluster, const Steps& steps, Played played,
                    const SimulationOptions& options) {
  Simulation out = attribute_idle(std::move(played), options.gaps);
  out.segment_ns = times_alone(steps);
  for (std::size_t c = 0; c < out.classes.size(); ++c)
    out.classes[c].capacity = cluster.least_memory(kinds_of(cluster, program, program.classes[c]));
  return out;
}

}  // namespace planscope
