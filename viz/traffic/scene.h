#pragma once
// The communication of a step as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks are names of
// rows, and `communicator N`, of the list.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_traffic_scene();

}  // namespace planscope::viz
