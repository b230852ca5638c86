#pragma once
// The timeline as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks: `line N`, what that statement
// decides; `operator N`, what computes it.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_timeline_scene();

}  // namespace planscope::viz
