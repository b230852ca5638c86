// The guided tour, and bringing panels and canvases to the front.
#include "app/session/canvases/canvases.h"
#include "app/session/core.h"
#include "app/session/panels/panels.h"
#include "app/session/there_are.h"
#include "app/session/tour.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

template <class Infos>
Result<Done> check_name(const Infos& infos, const std::string& noun, const std::string& id) {
  std::vector<std::string> ids;
  for (const auto& info : infos) {
    if (id == info.id) return Done{};
    ids.push_back(info.id);
  }
  const std::string near = nearest(id, ids);
  return error("there is no " + noun + " '" + printable(id) + "'", there_are(ids),
               near.empty() ? "" : "did you mean '" + near + "'?");
}

Result<Done> go(Core& c, const Invocation& i) {
  const std::string panel = i.get("panel"), canvas = i.get("canvas");
  if (panel.empty() == canvas.empty()) return error("'go' needs one panel or one canvas", "", "go operator");
  const Result<Done> known =
      panel.empty() ? check_name(canvases(), "canvas", canvas) : check_name(panels(), "panel", panel);
  if (!known.ok()) return known.diagnostics;
  c.state.front = {panel, canvas, c.state.front.asked + 1};
  return Done{};
}

Result<Done> tour(Core& c, const Invocation& i) {
  const std::size_t next = next_step_of_tour(c.state.preferences);
  const std::string step = i.has("step")              ? i.get("step")
                           : next < tour_steps().size() ? tour_steps()[next].id
                                                        : tour_steps().front().id;
  const Result<Done> known = check_name(tour_steps(), "step of the tour", step);
  if (!known.ok()) return known.diagnostics;
  c.state.front = {"tour", "", c.state.front.asked + 1};
  return c.prefer({{"tour", "on"}, {"tour_step", step}});
}

Result<Done> tour_next(Core& c, const Invocation&) {
  const std::size_t next = next_step_of_tour(c.state.preferences) + 1;
  return c.prefer({{"tour_step", next < tour_steps().size() ? tour_steps()[next].id : end_of_tour}});
}

Result<Done> tour_leave(Core& c, const Invocation&) { return c.prefer({{"tour", "off"}}); }

}  // namespace

void add_tour_handlers(Handlers& all) {
  all["go"] = go;
  all["tour"] = tour;
  all["tour_next"] = tour_next;
  all["tour_leave"] = tour_leave;
}

}  // namespace planscope::session
