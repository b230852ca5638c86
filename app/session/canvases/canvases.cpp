#include "app/session/canvases/canvases.h"

namespace planscope::session {

std::span<const CanvasInfo> canvases() {
  static const std::vector<CanvasInfo> all = {
      {"graph", "Graph", "graph",
       "Shows how a model is computed and where a plan communicates. Open a model: a .pt2 file that torch.export has written.",
       graph_source, graph_model, graph_marks},
      {"timeline", "Timeline", "blocks",
       "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4", timeline_source,
       timeline_model, timeline_marks},
  };
  return all;
}

}  // namespace planscope::session
