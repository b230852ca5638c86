#include "viz/canvas/raster_image.h"

namespace planscope::viz {

Image raster_image(const DisplayList& list, Size size, const RasterOptions& options) {
  ImGuiContext* before = ImGui::GetCurrentContext();
  Image image;
  {
    ImGuiHost host(options.fonts);
    host.resize(size, options.ratio);
    image = host.frame(list, options.background);
  }
  ImGui::SetCurrentContext(before);
  return image;
}

}  // namespace planscope::viz
