#include "viz/scenes/picture.h"

#include "viz/canvas/svg.h"
#ifdef PLANSCOPE_RASTERISER
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#endif

namespace planscope::viz {

namespace {

constexpr double caption_height = 28;

struct Drawn {
  DisplayList list;
  Size size;
};

Drawn drawn(const Scene& scene, Size size, const std::string& caption, const Theme& theme) {
  Canvas canvas;
  canvas.text({10, 19}, elided(caption, TextStyle::strong, Pixels{size.width - 20}), TextStyle::strong, theme.text);
  scene.draw(canvas, {0, caption_height, size.width, size.height}, theme);
  return {canvas.list(), {size.width, size.height + caption_height}};
}

}  // namespace

std::string scene_svg(const Scene& scene, Size size, const std::string& caption, const Theme& theme) {
  const Drawn d = drawn(scene, size, caption, theme);
  return to_svg(d.list, d.size, {theme.background, caption});
}

#ifdef PLANSCOPE_RASTERISER
std::optional<std::string> scene_png(const Scene& scene, Size size, const std::string& caption, const Theme& theme,
                                     double ratio) {
  const Drawn d = drawn(scene, size, caption, theme);
  const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};
  return encode_png(raster_image(d.list, d.size, {theme.background, ratio, fonts}));
}
#else
std::optional<std::string> scene_png(const Scene&, Size, const std::string&, const Theme&, double) {
  return std::nullopt;
}
#endif

}  // namespace planscope::viz
