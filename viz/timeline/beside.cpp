#include "viz/timeline/beside.h"

#include <algorithm>

namespace planscope::viz {

TimelineModel beside(const std::vector<NamedTimeline>& all, Alignment alignment) {
  TimelineModel out;
  out.compared = true;
  for (const NamedTimeline& t : all) out.duration = std::max(out.duration, t.model->duration);
  for (const NamedTimeline& t : all) {
    const bool stretched = alignment == Alignment::share && t.model->duration.value > 0;
    const double by = stretched ? out.duration / t.model->duration : 1;
    const auto at = [&](Microseconds time) { return std::min(time * by, out.duration); };
    const int first_lane = static_cast<int>(out.lanes.size());
    const auto first_detail = static_cast<std::int32_t>(out.details.size());
    for (Lane lane : t.model->lanes) {
      lane.name = t.name + " · " + lane.name;
      for (Stream& stream : lane.streams)
        for (Block& b : stream.blocks) {
          const Microseconds end = at(b.end());
          b.start = at(b.start);
          b.duration = std::max(Microseconds{0}, end - b.start);
          if (b.instruction >= 0) b.instruction += first_detail;
        }
      for (MemoryStep& m : lane.memory) m.at = at(m.at);
      if (lane.peak_at.value >= 0) lane.peak_at = at(lane.peak_at);
      out.lanes.push_back(std::move(lane));
    }
    for (BlockDetail d : t.model->details) {
      d.subtitle = t.name + (d.subtitle.empty() ? "" : " · " + d.subtitle);
      for (std::int32_t& r : d.reads) r += first_detail;
      out.details.push_back(std::move(d));
    }
    for (Link l : t.model->links) {
      l.from.lane += first_lane, l.to.lane += first_lane;
      out.links.push_back(l);
    }
    for (PathPart p : t.model->critical) {
      const Microseconds end = at(p.start + p.duration);
      p.lane += first_lane;
      p.start = at(p.start);
      p.duration = end - p.start;
      out.critical.push_back(p);
    }
    out.markers.push_back({at(t.model->duration), t.name + ": " + format_time(t.model->duration)});
  }
  std::stable_sort(out.critical.begin(), out.critical.end(), [](const PathPart& a, const PathPart& b) { return a.start < b.start; });
  return out;
}

}  // namespace planscope::viz
