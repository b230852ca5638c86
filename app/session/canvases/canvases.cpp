#include "app/session/canvases/canvases.h"

namespace planscope::session {

std::span<const CanvasInfo> canvases() {
  static const std::vector<CanvasInfo> all = {
      {"timeline", "Timeline", "blocks",
       "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4", timeline_source,
       timeline_model, timeline_marks},
      {"tensor", "Tensor", "tiles",
       "Shows how a tensor lies on the devices, and the moves between its writer and its readers. Select an operator or a tensor.",
       tensor_source, tensor_model, tensor_marks},
      {"traffic", "Traffic", "traffic",
       "Shows which devices communicate, how much, and when. Open a model and write a plan, as: devices 4 as data=4", traffic_source,
       traffic_model, traffic_marks},
  };
  return all;
}

}  // namespace planscope::session
