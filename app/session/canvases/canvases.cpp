#include "app/session/canvases/canvases.h"

namespace planscope::session {

std::span<const CanvasInfo> canvases() {
  static const std::vector<CanvasInfo> all = {
      {"graph", "graph", "Graph", "graph",
       "Shows how a model is computed and where a plan communicates. Open a model: a .pt2 file that torch.export has written.",
       graph_source, graph_model, graph_marks},
      {"timeline", "timeline", "Timeline", "blocks",
       "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4", timeline_source,
       timeline_model, timeline_marks},
      {"compare", "timeline", "Compare", "compare",
       "Puts the timelines of plans over each other, on one axis. Compare the plan with another one: compare PLAN", compare_source,
       compare_model, no_marks},
  };
  return all;
}

}  // namespace planscope::session
