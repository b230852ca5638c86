// Categories differ without their colours: each has a hatch of its own, in the nodes and in the legend.
#include <catch2/catch.hpp>

#include "viz/canvas/raster_image.h"
#include "viz/graph/draw_parts.h"

using namespace planscope::viz;

namespace {

const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};

// As a printer without colours draws all of them.
Theme grey_theme() {
  Theme t = dark_theme();
  t.categories.fill(rgb(0x909090));
  return t;
}

GraphModel of_category(int category) {
  GraphModel m;
  m.colour = ColourKind::categories;
  m.band = {static_cast<std::int16_t>(category)}, m.band_share = {1}, m.band_end = {1};
  return m;
}

Image band(int category) {
  Canvas canvas;
  draw_band(canvas, of_category(category), 0, {0, 0, 120, 7}, grey_theme());
  return raster_image(canvas.list(), {120, 7}, {rgb(0x101010), 1, fonts});
}

int differing(const Image& a, const Image& b) {
  int n = 0;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x) n += a.at(x, y) != b.at(x, y);
  return n;
}

}  // namespace

TEST_CASE("two categories differ in a grey picture") {
  for (int a = 0; a < hatch_count; ++a)
    for (int b = a + 1; b < hatch_count; ++b) {
      INFO(a << " " << b);
      CHECK(differing(band(a), band(b)) > 60);  // of 840 pixels
    }
}

TEST_CASE("the legend shows the hatch of each category") {
  GraphModel m;
  m.colour = ColourKind::categories;
  for (const char* name : {"the same", "another place", "split otherwise", "kept otherwise"})
    m.category.push_back(m.intern(name));
  GraphAreas areas;
  areas.legend = {0, 0, 800, 24};
  Canvas canvas;
  draw_legend(canvas, m, areas, grey_theme());
  std::vector<Hatch> shown;
  for (const Shape& shape : canvas.list())
    if (const auto* hatch = std::get_if<HatchShape>(&shape)) shown.push_back(hatch->pattern);
  CHECK(shown == std::vector<Hatch>{category_hatch(0), category_hatch(1), category_hatch(2), category_hatch(3)});
}

TEST_CASE("categories beyond the eight colours have the hatch of another one of their colour") {
  for (int c = 0; c < hatch_count; ++c) CHECK(category_hatch(c + 8) != category_hatch(c));
}
