#pragma once
// The picture of a tensor as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks: `side N`, of the
// writers and readers in their order, and `tile N` of all tiles; a side whose
// tiles are all marked has one outline.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_tensor_scene();

}  // namespace planscope::viz
