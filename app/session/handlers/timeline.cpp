// How the lanes of timelines are shown.
#include <algorithm>
#include <iterator>

#include "app/session/core.h"
#include "app/session/times.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Result<const Evaluation*> predicted(const Document& d) {
  if (!d.shown || !d.shown->evaluation) return error("there is no timeline", "no plan has been predicted");
  return d.shown->evaluation.get();
}

Result<Done> lanes(Core& c, const Invocation& i) {
  const std::string by = i.get("by");
  const std::vector<std::string> all(std::begin(kLaneOrders), std::end(kLaneOrders));
  if (std::find(all.begin(), all.end(), by) == all.end()) {
    const std::string near = nearest(by, all);
    return error("lanes cannot be sorted by '" + printable(by) + "'", "", near.empty() ? join(all, ", ") : "did you mean '" + near + "'?");
  }
  c.state.lanes.order = by;
  return Done{};
}

Result<Done> lane(Core& c, const Invocation& i) {
  const Result<const Evaluation*> e = predicted(*c.document());
  if (!e.ok()) return e.diagnostics;
  const std::string name = i.get("name");
  const std::vector<DeviceClass>& classes = (*e)->made.program.classes;
  const bool all = name == "all";
  if (!all && std::none_of(classes.begin(), classes.end(), [&](const DeviceClass& k) { return k.name == name; })) {
    std::vector<std::string> names;
    for (const DeviceClass& k : classes) names.push_back(k.name);
    return error("there is no lane '" + printable(name) + "'", "there are " + join(names, ", "), "all means every lane");
  }
  LaneLook look = c.state.lanes;
  for (const auto& [what, set] : {std::pair("fold", &look.folded), std::pair("pin", &look.pinned), std::pair("devices", &look.open)}) {
    if (!i.has(what)) continue;
    const std::string on = i.get(what);
    if (on != "on" && on != "off") return error(std::string("'lane': ") + what + " is on or off, not '" + printable(on) + "'");
    for (const DeviceClass& k : classes) {
      if (!all && k.name != name) continue;
      if (on == "on")
        set->insert(k.name);
      else
        set->erase(k.name);
    }
  }
  c.state.lanes = std::move(look);
  return Done{};
}

Result<Done> detail(Core& c, const Invocation& i) {
  if (i.get("time") == "none") {
    c.state.lanes.detail_us.reset();
    return Done{};
  }
  const Result<TimesUs> times = parse_times(i.get("time"));
  if (!times.ok()) return times.diagnostics;
  if (times->first >= times->second) return error("'detail' needs a part of the step", "", "time=A..B, in microseconds");
  c.state.lanes.detail_us = *times;
  return Done{};
}

}  // namespace

void add_timeline_handlers(Handlers& all) {
  all["lanes"] = lanes;
  all["lane"] = lane;
  all["detail"] = detail;
}

}  // namespace planscope::session
