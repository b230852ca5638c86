// The communication of the plan that is shown.
#include "app/session/canvases/canvases.h"
#include "app/workbench/traffic.h"
#include "viz/traffic/wire.h"

namespace planscope::session {

CanvasSource traffic_source(const State& s) {
  const Document* d = s.document();
  return {d && d->shown ? d->shown->evaluation : nullptr, ""};
}

std::string traffic_model(const State& s) {
  const Picture& p = *s.document()->shown;
  const TrafficFacts t = traffic(*p.evaluation, *p.cluster);
  viz::TrafficModel out;
  out.devices = t.devices, out.devices_per_row = t.devices_per_row, out.rows = t.rows, out.duration = {t.duration_us};
  for (const Communicator& c : t.communicators)
    out.communicators.push_back({c.kind, c.over, c.devices, c.level_name, c.size, c.groups, c.count,
        {static_cast<double>(c.bytes)},
                                 {c.busy_us}, {c.exposed_us}, {c.first_us}, {c.last_us}});
  for (const TrafficCell& c : t.cells) {
    out.from.push_back(c.from), out.to.push_back(c.to), out.communicator.push_back(c.communicator);
    out.bytes.push_back(c.bytes), out.messages.push_back(c.messages);
  }
  for (const LinkLoad& l : t.links) out.links.push_back({l.name, l.bandwidth, l.bytes});
  return viz::encode(out);
}

std::vector<std::string> traffic_marks(const State& s) {
  return s.selection.place.empty() ? std::vector<std::string>{} : std::vector<std::string>{s.selection.place};
}

}  // namespace planscope::session
