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

std::string line_at(std::string_view kind, std::string_view model, std::string_view view, Point at, const Rect& area) {
  const std::unique_ptr<Scene> scene = make_scene(kind);
  if (!scene || !scene->load(model)) return "";
  scene->set_view(view);
  std::string found;
  for (const Input& in : {Input{.mouse = at, .pressed = true}, Input{.mouse = at, .released = true}})
    for (std::string& line : scene->apply(in, area))
      if (line.starts_with("select ")) found = std::move(line);
  return found;
}

}  // namespace planscope::viz
