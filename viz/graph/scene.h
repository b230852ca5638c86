#pragma once
// The graph as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks are those of its nodes,
// and `edge N`.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_graph_scene();

}  // namespace planscope::viz
