#include "planner/simulate/step_load.h"

#include <algorithm>
#include <cmath>

#include "engine/base/format.h"

namespace planscope {

StepLoad load_of(const SegmentSteps& segment, const std::vector<Traffic>& traffic) {
  StepLoad out;
  const auto given = [&](const MemoryChange& m) { out.bytes += std::abs(static_cast<double>(m.bytes)); };
  for (const Step& s : segment.steps) {
    out.ns += static_cast<double>(s.duration) + static_cast<double>(s.own);
    for (const std::int64_t b : {s.transient, s.transient_gradients, s.host}) out.bytes += std::abs(static_cast<double>(b));
    for (const MemoryChange& m : s.before) given(m);
    for (const MemoryChange& m : s.after) given(m);
    for (const Release& r : s.releases) given(r.change);
    if (s.traffic < 0) continue;
    const Traffic& t = traffic[static_cast<std::size_t>(s.traffic)];
    out.ns += static_cast<double>(t.time);
    out.sent += static_cast<double>(t.payload.count) + t.sent;
  }
  return out;
}

Diagnostic uncountable(const std::vector<StepLoad>& classes) {
  StepLoad all, most;
  for (const StepLoad& l : classes) {
    all += l;
    most = {0, std::max(most.bytes, l.bytes), std::max(most.sent, l.sent)};
  }
  const double years = all.ns / 1e9 / 86400 / 365, bytes = std::max(most.bytes, most.sent);
  if (all.ns >= static_cast<double>(kMostNanoseconds))
    return error("the step takes too long to be predicted",
                 "its device classes work for " + std::to_string(std::llround(years)) + " years together",
                 "at most 36: fewer micro-batches, a smaller batch or a faster cluster");
  if (bytes >= static_cast<double>(kMostBytes))
    return error("the step is too large to be predicted", "one device handles " + bytes_text(bytes) + " in it",
                 "at most 1 EiB: a smaller batch, or more devices");
  return {};
}

}  // namespace planscope
