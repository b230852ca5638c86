#include "viz/scenes/scenes.h"

#include "viz/graph/scene.h"
#include "viz/tensor/scene.h"
#include "viz/timeline/scene.h"
#include "viz/traffic/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_scene(std::string_view kind) {
  if (kind == "graph") return make_graph_scene();
  if (kind == "timeline") return make_timeline_scene();
  if (kind == "tensor") return make_tensor_scene();
  if (kind == "traffic") return make_traffic_scene();
  return nullptr;
}

}  // namespace planscope::viz
