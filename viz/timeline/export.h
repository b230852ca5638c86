#pragma once
// A whole timeline as a picture for reports, with a legend of the kinds that occur. The display list serves both
// formats; PNG: encode_png(raster_image(timeline_picture(…).list, …)).
//
//   std::string svg = to_svg(model, {1200, "1F1B, 4 stages"});
#include "viz/timeline/draw.h"

namespace planscope::viz {

struct TimelinePictureOptions {
  double width = 1200;
  std::string title;  // may be empty
  Theme theme = light_theme();
  std::optional<TimeRange> range = std::nullopt;  // none: everything
  bool show_memory = true;
};

struct TimelinePicture {
  DisplayList list;
  Size size;
};

TimelinePicture timeline_picture(const TimelineModel& model, const TimelinePictureOptions& options);
std::string to_svg(const TimelineModel& model, const TimelinePictureOptions& options);

}  // namespace planscope::viz
