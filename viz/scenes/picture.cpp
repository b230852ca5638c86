#include "viz/scenes/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "viz/canvas/base64.h"
#include "viz/canvas/svg.h"
#ifdef PLANSCOPE_RASTERISER
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#endif

namespace planscope::viz {

namespace {

constexpr double caption_height = 28, line_height = 18;
constexpr double most_pixels = 40e6;

struct Drawn {
  DisplayList list;
  Size size;
};

// A caption names things with ` · ` between them: as many of them in a line as there is room for.
std::vector<std::string> lines_of(const std::string& caption, Pixels room) {
  const std::string between = " · ";
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= caption.size();) {
    const std::size_t end = std::min(caption.find(between, begin), caption.size());
    const std::string part = caption.substr(begin, end - begin);
    if (!out.empty() && text_width(out.back() + between + part, TextStyle::strong).value <= room.value)
      out.back() += between + part;
    else
      out.push_back(part);
    begin = end == caption.size() ? end + 1 : end + between.size();
  }
  return out;
}

Drawn drawn(const Scene& scene, Size size, const std::string& caption, const Theme& theme) {
  Canvas canvas;
  const Pixels room{size.width - 20};
  double y = 19;
  for (const std::string& line : lines_of(caption, room)) {
    canvas.text({10, y}, elided(line, TextStyle::strong, room), TextStyle::strong, theme.text);
    y += line_height;
  }
  const double top = y - 19 + caption_height - line_height;
  scene.draw(canvas, {0, top, size.width, size.height}, theme);
  return {canvas.list(), {size.width, size.height + top}};
}

}  // namespace

#ifdef PLANSCOPE_RASTERISER
namespace {

constexpr double least_ratio = 0.1;  // below it nothing can be read

// At most so many bytes; nothing: it takes more at the least ratio too. How many it takes goes about with the pixels.
std::optional<std::string> png_within(const Drawn& d, const Theme& theme, double ratio, std::size_t limit) {
  const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};
  ratio = std::min(ratio, std::sqrt(most_pixels / (d.size.width * d.size.height)));
  for (;;) {
    std::string png = encode_png(raster_image(d.list, d.size, {theme.background, ratio, fonts}));
    if (png.size() <= limit) return png;
    if (ratio <= least_ratio) return std::nullopt;
    const double share = 0.95 * std::sqrt(static_cast<double>(limit) / static_cast<double>(png.size()));
    ratio = std::max(least_ratio, ratio * std::min(0.9, share));
  }
}

// A picture with too many shapes for one file, as pixels.
std::optional<std::string> svg_of_pixels(const Drawn& d, const std::string& caption, const Theme& theme) {
  const auto side = [](double v) { return std::to_string(static_cast<long>(std::ceil(v))); };
  const std::string sides = "width=\"" + side(d.size.width) + "\" height=\"" + side(d.size.height) + "\"";
  const std::string before = "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" " + sides +
                             ">\n<title>" + escaped(caption) + " (as pixels: its shapes would take more than 2 MB)</title>\n<image " +
                             sides + " xlink:href=\"data:image/png;base64,";
  const std::string after = "\"/>\n</svg>\n";
  const std::size_t around = before.size() + after.size();
  if (around >= most_picture_bytes) return std::nullopt;
  const std::optional<std::string> png = png_within(d, theme, 2, (most_picture_bytes - around) / 4 * 3);
  if (!png) return std::nullopt;
  return before + base64(*png) + after;
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

std::optional<std::string> scene_svg(const Scene& scene, Size size, const std::string& caption, const Theme& theme) {
  const Drawn d = drawn(scene, size, caption, theme);
  std::string out = to_svg(d.list, d.size, {theme.background, caption});
  if (out.size() <= most_picture_bytes) return out;
#ifdef PLANSCOPE_RASTERISER
  return svg_of_pixels(d, caption, theme);
#else
  return std::nullopt;
#endif
}

#ifdef PLANSCOPE_RASTERISER
bool makes_png() { return true; }

std::optional<std::string> scene_png(const Scene& scene, Size size, const std::string& caption, const Theme& theme,
                                     double ratio) {
  return png_within(drawn(scene, size, caption, theme), theme, ratio, most_picture_bytes);
}
#else
bool makes_png() { return false; }

std::optional<std::string> scene_png(const Scene&, Size, const std::string&, const Theme&, double) {
  return std::nullopt;
}
#endif

}  // namespace planscope::viz
