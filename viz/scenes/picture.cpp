#include "viz/scenes/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "viz/canvas/base64.h"
#include "viz/canvas/svg.h"
#ifdef PLANSCOPE_RASTERISER
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#endif

namespace planscope::viz {

namespace {

constexpr double caption_height = 28;
constexpr double most_pixels = 40e6;

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

#ifdef PLANSCOPE_RASTERISER
namespace {

constexpr std::size_t most_svg_bytes = 2'000'000;

Image pixels(const Drawn& d, const Theme& theme, double ratio) {
  const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};
  const double fitting = std::sqrt(most_pixels / (d.size.width * d.size.height));
  return raster_image(d.list, d.size, {theme.background, std::min(ratio, fitting), fonts});
}

// A picture with too many shapes for one file, as pixels: as many of them as the file may hold.
std::string svg_of_pixels(const Drawn& d, const std::string& caption, const Theme& theme) {
  std::string png;
  for (double ratio = 2; ratio > 0.4; ratio /= 1.4)
    if (png = encode_png(pixels(d, theme, ratio)); png.size() / 3 * 4 < most_svg_bytes - 1000) break;
  const auto side = [](double v) { return std::to_string(static_cast<long>(std::ceil(v))); };
  const std::string sides = "width=\"" + side(d.size.width) + "\" height=\"" + side(d.size.height) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" " + sides + ">\n<title>" +
         escaped(caption) + " (as pixels: its shapes would take more than 2 MB)</title>\n<image " + sides +
         " xlink:href=\"data:image/png;base64," + base64(png) + "\"/>\n</svg>\n";
}

}  // namespace
#endif

Size largest_png(Size s) {
  if (s.width * (s.height + caption_height) <= most_pixels) return s;
  // The share k of both sides for which (k w)(k h + caption) is most_pixels.
  const double area = s.width * s.height, caption = s.width * caption_height;
  const double share = (std::sqrt(caption * caption + 4 * area * most_pixels) - caption) / (2 * area);
  return {std::floor(share * s.width), std::floor(share * s.height)};
}

std::string scene_svg(const Scene& scene, Size size, const std::string& caption, const Theme& theme) {
  const Drawn d = drawn(scene, size, caption, theme);
  std::string out = to_svg(d.list, d.size, {theme.background, caption});
#ifdef PLANSCOPE_RASTERISER
  if (out.size() > most_svg_bytes) out = svg_of_pixels(d, caption, theme);
#endif
  return out;
}

#ifdef PLANSCOPE_RASTERISER
std::optional<std::string> scene_png(const Scene& scene, Size size, const std::string& caption, const Theme& theme,
                                     double ratio) {
  return encode_png(pixels(drawn(scene, size, caption, theme), theme, ratio));
}
#else
std::optional<std::string> scene_png(const Scene&, Size, const std::string&, const Theme&, double) {
  return std::nullopt;
}
#endif

}  // namespace planscope::viz
