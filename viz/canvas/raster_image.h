#pragma once
// A display list as pixels, without a window: PNG export and picture tests.
//
//   std::string png = encode_png(raster_image(canvas.list(), {800, 400}, {rgb(0x1d2126), 2.0, fonts}));
#include "viz/canvas/imgui_host.h"

namespace planscope::viz {

struct RasterOptions {
  Colour background;
  double ratio = 1;  // pixels of the image per pixel of the list
  FontFiles fonts;
};

Image raster_image(const DisplayList& list, Size size, const RasterOptions& options);

}  // namespace planscope::viz
