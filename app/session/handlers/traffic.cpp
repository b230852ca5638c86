// What of the communication is shown.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/session/core.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr const char* kKinds[] = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                                  "rotate",     "rotate_back",    "send"};

std::optional<double> number(const std::string& text) {
  double v = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (problem != std::errc() || end != text.data() + text.size() || !std::isfinite(v)) return std::nullopt;
  return v;
}

Result<Done> brush(Core& c, const Invocation& i) {
  TrafficLook look = i.arguments.empty() ? TrafficLook{} : c.state.brush;
  if (i.has("time")) {
    const std::string text = i.get("time");
    const std::size_t dots = text.find("..");
    const std::optional<double> from = dots == std::string::npos ? std::nullopt : number(text.substr(0, dots));
    const std::optional<double> to = dots == std::string::npos ? std::nullopt : number(text.substr(dots + 2));
    if (!text.empty() && (!from || !to || *from < 0 || *to <= *from))
      return error("'" + printable(text) + "' is no range of time", "", "microseconds of the step, as 100..250");
    look.time_us = text.empty() ? std::nullopt : std::optional(std::pair(*from, *to));
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
