#include "planner/simulate/alone.h"

#include <algorithm>
#include <map>

namespace planscope {
namespace {

Nanoseconds time_alone(const SegmentSteps& segment) {
  Nanoseconds now = 0;
  std::array<Nanoseconds, 2> free{};  // the collective and the network stream
  std::map<int, Nanoseconds> ends;    // of collectives, by handle
  for (const Step& step : segment.steps) {
    if (step.last) continue;
    switch (step.kind) {
      case StepKind::compute:
      case StepKind::accumulate:
        now += step.duration;
        break;
      case StepKind::issue: {
        Nanoseconds& stream = free[step.network ? 1 : 0];
        stream = std::max(stream, now) + step.duration;
        ends[step.instance.handle] = stream;
        break;
      }
      case StepKind::wait_collective:
        if (const auto end = ends.find(step.instance.handle); end != ends.end()) now = std::max(now, end->second);
        break;
      case StepKind::send:
      case StepKind::wait_receive:
      case StepKind::offload:
      case StepKind::restore:
      case StepKind::wait_restore:
        break;
    }
  }
  return now;
}

}  // namespace

std::vector<Nanoseconds> times_alone(const Steps& steps) {
  std::vector<Nanoseconds> out;
  for (const SegmentSteps& s : steps.segments) out.push_back(time_alone(s));
  return out;
}

}  // namespace planscope
