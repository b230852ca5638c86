#pragma once
// The picture of a tensor as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks are places, as
// `pipe=0`.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_tensor_scene();

}  // namespace planscope::viz
