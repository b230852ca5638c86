#pragma once
// What of a canvas is looked at, as a value of the session: set by the command `view`, drawn by exports and by every
// surface, and part of links (link.h).
//
//   Result<std::string> v = changed_view(state, "graph", {"zoom=0.8", "backward=no"});   // as Scene::view() writes it
//   std::unique_ptr<viz::Scene> scene = looked_at(state, canvas);   // with its model, its marks and its view
#include <memory>
#include <string>
#include <vector>

#include "app/session/canvases/canvases.h"
#include "app/session/commands.h"
#include "viz/canvas/scene.h"

namespace planscope::session {

// The canvas as a scene; without a model where there is nothing to draw. Errors: there is no such canvas (with the
// nearest).
Result<const CanvasInfo*> find_canvas(const std::string& id);
bool is_view(const std::string& json);  // one JSON object; a scene takes of it what it knows
std::unique_ptr<viz::Scene> looked_at(const State&, const CanvasInfo&);

// Settings are NAME=VALUE; `at.seq=3` is a member of a member. Errors: there is no such setting, or it does not take
// that.
Result<std::string> changed_view(const State&, const std::string& canvas, const std::vector<std::string>& settings);

}  // namespace planscope::session
