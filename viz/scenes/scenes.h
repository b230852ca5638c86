#pragma once
// The canvases that there are, by name.
//
//   std::unique_ptr<Scene> s = make_scene("timeline");
#include <memory>
#include <string>
#include <string_view>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_scene(std::string_view kind);  // null: there is none of that kind

// The line that selects in the session what a scene with that model and view has at a point, whatever is selected in it;
// empty: nothing is there. A click on the scene itself would say nothing of what it has selected already.
std::string line_at(std::string_view kind, std::string_view model, std::string_view view, Point, const Rect& area);

}  // namespace planscope::viz
