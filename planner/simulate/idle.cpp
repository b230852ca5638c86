#include "planner/simulate/idle.h"

#include <algorithm>

namespace planscope {
namespace {

void take(Nanoseconds& from, Nanoseconds& to, Nanoseconds& limit) {
  const Nanoseconds n = std::min(from, limit);
  from -= n;
  to += n;
  limit -= n;
}

}  // namespace

Simulation attribute_idle(Played played) {
  Simulation s = std::move(played.simulation);
  Nanoseconds busiest = 0;
  for (const ClassTimeline& c : s.classes) busiest = std::max(busiest, c.compute);
  for (std::size_t i = 0; i < s.classes.size(); ++i) {
    ClassTimeline& c = s.classes[i];
    const Waiting& w = played.waiting[i];
    Nanoseconds tail = s.step_ns - c.compute - w.warm_up - w.steady - w.cool_down - w.communication - w.host;
    // What its own streams still do after its last slot is communication; the rest is waiting for the others.
    const Nanoseconds own = std::max<Nanoseconds>(0, std::min(tail, c.makespan - (s.step_ns - tail)));
    const Nanoseconds copies = std::min(own, w.host_tail);
    tail -= own;
    c.idle.communication = w.communication + own - copies;
    c.idle.memory = w.host + copies;
    c.idle.warm_up = w.warm_up;
    c.idle.cool_down = w.cool_down + tail;
    c.idle.data = w.steady;
    Nanoseconds lack = busiest - c.compute;
    take(c.idle.data, c.idle.imbalance, lack);
    take(c.idle.cool_down, c.idle.imbalance, lack);
    if (w.receives) take(c.idle.warm_up, c.idle.imbalance, lack);
  }
  return s;
}

}  // namespace planscope
