#pragma once
// The canvases that there are, by name.
//
//   std::unique_ptr<Scene> s = make_scene("timeline");
#include <memory>
#include <string_view>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_scene(std::string_view kind);  // null: there is none of that kind

}  // namespace planscope::viz
