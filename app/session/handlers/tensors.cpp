// What of a tensor is shown.
#include "app/session/core.h"
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
  const std::shared_ptr<const Picture>& shown = c.document()->shown;
  if (!shown || !shown->evaluation) {  // what has not been evaluated may have it
    c.state.look.index[i.get("axis")] = std::stoll(i.get("at"));
    return Done{};
  }
  const Program& p = shown->evaluation->made.program;
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
  return error("there is no free axis '" + printable(i.get("axis")) + "'", names.empty() ? "the plan has none" : "it has " + join(names, ", "));
}

}  // namespace

void add_tensor_handlers(Handlers& all) {
  all["gradient"] = gradient;
  all["index"] = index;
}

}  // namespace planscope::session
