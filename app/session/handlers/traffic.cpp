// What of the communication is shown.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/lanes.h"
#include "app/session/panel.h"
#include "app/session/times.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr const char* kKinds[] = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                                  "rotate",     "rotate_back",    "send"};

// The window of time that is shown; without a value it is the whole step.
Result<std::optional<TimesUs>> times_of(const Document& d, const std::string& text) {
  if (text.empty()) return std::optional<TimesUs>();
  const Result<TimesUs> times = parse_times(text);
  if (!times.ok()) return times.diagnostics;
  if (times->first == times->second) return error("'" + printable(text) + "' is one moment", "in it nothing is sent", "as 100..250");
  const Evaluation* e = d.shown ? d.shown->evaluation.get() : nullptr;
  const double step = e ? static_cast<double>(selected_window({}, e->simulation).to) / 1000 : times->second;
  if (times->first > step)
    return error("the step ends before " + cell(times->first, Unit::microseconds).text, "it lasts " + cell(step, Unit::microseconds).text);
  return std::optional(*times);
}

Result<Done> brush(Core& c, const Invocation& i) {
  TrafficLook look = i.arguments.empty() ? TrafficLook{} : c.state.brush;
  if (i.has("time")) {
    const Result<std::optional<TimesUs>> times = times_of(*c.document(), i.get("time"));
    if (!times.ok()) return times.diagnostics;
    look.time_us = *times;
  }
  if (i.has("kind")) {
    look.kinds.clear();
    for (const std::string& kind : split(i.get("kind"), ',')) {
      if (kind.empty()) continue;
      if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds))
        return error("there is no kind of communication '" + printable(kind) + "'",
                     "there are " + join({std::begin(kKinds), std::end(kKinds)}, ", "));
      look.kinds.insert(kind);
    }
  }
  if (i.has("level")) {
    look.level = i.get("level");
    std::vector<std::string> levels;
    if (const Document& d = *c.document(); d.shown && d.shown->cluster)
      for (const Level& l : d.shown->cluster->levels) levels.push_back(l.name);
    if (!look.level.empty() && !levels.empty() && std::find(levels.begin(), levels.end(), look.level) == levels.end())
      return error("the cluster has no level '" + printable(look.level) + "'", "it has " + join(levels, ", "));
  }
  if (i.has("selection")) {
    if (i.get("selection") != "yes" && i.get("selection") != "no")
      return error("'brush' takes selection=yes or no, not '" + printable(i.get("selection")) + "'");
    look.selection = i.get("selection") == "yes";
  }
  c.state.brush = std::move(look);
  return Done{};
}

}  // namespace

void add_traffic_handlers(Handlers& all) { all["brush"] = brush; }

}  // namespace planscope::session
