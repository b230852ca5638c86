// What of a tensor is shown, and files that views write.
#include <algorithm>

#include "app/session/core.h"
#include "app/workbench/traffic.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Result<Done> gradient(Core& c, const Invocation& i) {
  const std::string on = i.get("on");
  if (!on.empty() && on != "on" && on != "off") return error("'gradient' takes on or off, not '" + printable(on) + "'");
  c.state.look.gradient = on.empty() ? !c.state.look.gradient : on == "on";
  return Done{};
}

Result<Done> index(Core& c, const Invocation& i) {
  const Program& p = c.document()->shown->evaluation->made.program;
  std::vector<std::string> names;
  for (const Axis& a : p.axes) {
    if (a.grid >= 0 || a.of >= 0) continue;
    names.push_back(a.name);
    if (a.name != i.get("axis")) continue;
    const std::int64_t at = std::stoll(i.get("at"));
    if (at >= a.size)
      return error("'" + a.name + "' has no index " + i.get("at"), "it has 0 to " + std::to_string(a.size - 1));
    c.state.look.index[a.name] = at;
    return Done{};
  }
  return error("there is no free axis '" + printable(i.get("axis")) + "'",
               names.empty() ? "the plan has none" : "it has " + join(names, ", "));
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Result<Done> export_file(Core& c, const Invocation& i) {
  const std::string path = i.get("path");
  if (i.get("what") != "traffic") return error("'" + printable(i.get("what")) + "' cannot be exported", "traffic can");
  const bool csv = ends_with(path, ".csv");
  if (!csv && !ends_with(path, ".json"))
    return error("traffic is written as .csv or .json, not as '" + printable(path) + "'");
  const Picture& p = *c.document()->shown;
  const TrafficFacts t = traffic(*p.evaluation, *p.cluster);
  const auto written = write_file(path, csv ? traffic_csv(t) : traffic_json(t));
  if (has_errors(written.diagnostics)) return written.diagnostics;
  return Done{};
}

}  // namespace

void add_tensor_handlers(Handlers& all) {
  all["gradient"] = gradient;
  all["index"] = index;
  all["export"] = export_file;
}

}  // namespace planscope::session
