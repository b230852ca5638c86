#include "viz/timeline/export.h"

#include "viz/canvas/svg.h"
#include "viz/timeline/interaction.h"

namespace planscope::viz {
namespace {

constexpr double title_height = 28;

}  // namespace

TimelinePicture timeline_picture(const TimelineModel& model, const TimelinePictureOptions& options) {
  TimelineView view = fit({}, model);
  view.show_memory = options.show_memory;
  if (options.range) view.range = *options.range;
  const double top = options.title.empty() ? 4 : title_height, body = natural_height(model, view.show_memory);
  const TimelineIndex index = build_index(model);
  const double legend = legend_height(index, options.width);
  const Size size{options.width, top + body + legend};
  Canvas canvas;
  if (!options.title.empty()) {
    canvas.text({10, 19}, elided(options.title, TextStyle::strong, Pixels{options.width - 20}), TextStyle::strong,
                options.theme.text);
  }
  draw_timeline(canvas, model, index, view, {0, top, options.width, body}, options.theme);
  draw_legend(canvas, index, {0, top + body, options.width, legend}, options.theme);
  return {canvas.list(), size};
}

std::string to_svg(const TimelineModel& model, const TimelinePictureOptions& options) {
  const TimelinePicture picture = timeline_picture(model, options);
  return to_svg(picture.list, picture.size,
                {options.theme.background, options.title.empty() ? "timeline" : options.title});
}

}  // namespace planscope::viz
