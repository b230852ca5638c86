#include "viz/timeline/export.h"

#include <array>

#include "viz/canvas/svg.h"
#include "viz/timeline/interaction.h"

namespace planscope::viz {
namespace {

constexpr double title_height = 28, legend_height = 26;

std::array<bool, block_kinds> kinds_in(const TimelineModel& model) {
  std::array<bool, block_kinds> found{};
  for (const Lane& lane : model.lanes) {
    for (const Stream& stream : lane.streams) {
      for (const Block& block : stream.blocks) found[static_cast<std::size_t>(block.kind)] = true;
    }
  }
  return found;
}

void draw_legend(Canvas& canvas, const TimelineModel& model, const Theme& theme, double y, double width) {
  const std::array<bool, block_kinds> found = kinds_in(model);
  double x = 10;
  for (int k = 0; k < block_kinds; ++k) {
    if (!found[k]) continue;
    const auto kind = static_cast<BlockKind>(k);
    const std::string label = name_of(kind);
    const double entry = 20 + text_width(label, TextStyle::normal).value + 18;
    if (x + entry > width) return;
    const Rect swatch{x, y + 7, 14, 12};
    if (is_idle(kind))
      canvas.hatch(swatch, colour_of(kind, theme));
    else
      canvas.fill(swatch, colour_of(kind, theme), 2);
    canvas.text({x + 20, y + 17}, label, TextStyle::normal, theme.text);
    x += entry;
  }
}

}  // namespace

TimelinePicture timeline_picture(const TimelineModel& model, const TimelinePictureOptions& options) {
  TimelineView view = fit({}, model);
  view.show_memory = options.show_memory;
  if (options.range) view.range = *options.range;
  const double top = options.title.empty() ? 4 : title_height, body = natural_height(model, view.show_memory);
  const Size size{options.width, top + body + legend_height};
  Canvas canvas;
  if (!options.title.empty()) {
    canvas.text({10, 19}, elided(options.title, TextStyle::strong, Pixels{options.width - 20}), TextStyle::strong,
                options.theme.text);
  }
  draw_timeline(canvas, model, build_index(model), view, {0, top, options.width, body}, options.theme);
  draw_legend(canvas, model, options.theme, top + body, options.width);
  return {canvas.list(), size};
}

std::string to_svg(const TimelineModel& model, const TimelinePictureOptions& options) {
  const TimelinePicture picture = timeline_picture(model, options);
  return to_svg(picture.list, picture.size,
                {options.theme.background, options.title.empty() ? "timeline" : options.title});
}

}  // namespace planscope::viz
