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

// The first gaps of a cause, as far as `limit` goes, are imbalance.
void mark_imbalance(std::vector<Gap>& gaps, IdleCause cause, Nanoseconds& limit) {
  std::vector<Gap> out;
  for (const Gap& g : gaps) {
    const Nanoseconds n = g.cause == cause ? std::min(limit, g.end - g.start) : 0;
    if (n > 0) out.push_back({IdleCause::imbalance, g.start, g.start + n, g.from});
    if (g.start + n < g.end) out.push_back({g.cause, g.start + n, g.end, g.from});
    limit -= n;
  }
  gaps = std::move(out);
}

}  // namespace

Simulation attribute_idle(Played played, bool gaps) {
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
    const Nanoseconds end = s.step_ns - tail;  // of its last slot
    tail -= own;
    c.idle.communication = w.communication + own - copies;
    c.idle.memory = w.host + copies;
    c.idle.warm_up = w.warm_up;
    c.idle.cool_down = w.cool_down + tail;
    c.idle.data = w.steady;
    Nanoseconds lack = busiest - c.compute;
    if (gaps) {
      const Nanoseconds copied = end + own - copies, over = end + own;
      for (const Gap& g : {Gap{IdleCause::communication, end, copied}, Gap{IdleCause::memory, copied, over},
                           Gap{IdleCause::cool_down, over, over + tail}})
        if (g.end > g.start) c.gaps.push_back(g);
      Nanoseconds left = lack;
      mark_imbalance(c.gaps, IdleCause::data, left);
      mark_imbalance(c.gaps, IdleCause::cool_down, left);
      if (w.receives) mark_imbalance(c.gaps, IdleCause::warm_up, left);
    }
    take(c.idle.data, c.idle.imbalance, lack);
    take(c.idle.cool_down, c.idle.imbalance, lack);
    if (w.receives) take(c.idle.warm_up, c.idle.imbalance, lack);
  }
  return s;
}

}  // namespace planscope
