#include "viz/canvas/raster_image.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace planscope::viz;

namespace {

const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};
constexpr Colour back = rgb(0x1d2126);

int count(const Image& image, Colour c) {
  int n = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) n += image.at(x, y) == c;
  }
  return n;
}

}  // namespace

TEST_CASE("rectangles cover exactly their pixels, at every scale, inside the clip") {
  Canvas canvas;
  canvas.fill({10, 5, 20, 8}, rgb(0x4c8fd6));
  canvas.push_clip({0, 0, 50, 50});
  canvas.fill({45, 45, 20, 20}, rgb(0xd9a441));
  canvas.pop_clip();
  for (const double ratio : {1.0, 2.0}) {
    const Image image = raster_image(canvas.list(), {80, 60}, {back, ratio, fonts});
    CHECK(image.width == 80 * ratio);
    CHECK(count(image, rgb(0x4c8fd6)) == 160 * ratio * ratio);
    CHECK(count(image, rgb(0xd9a441)) == 25 * ratio * ratio);
    CHECK(image.at(static_cast<int>(10 * ratio), static_cast<int>(5 * ratio)) == rgb(0x4c8fd6));
    CHECK(image.at(static_cast<int>(10 * ratio) - 1, static_cast<int>(5 * ratio)) == back);
  }
}

TEST_CASE("half transparent colours are mixed with what is below") {
  Canvas canvas;
  canvas.fill({0, 0, 4, 4}, with_alpha(rgb(0xffffff), 0.5));
  const Colour c = raster_image(canvas.list(), {4, 4}, {rgb(0x000000), 1, fonts}).at(1, 1);
  CHECK(c == Colour{128, 128, 128, 255});
}

TEST_CASE("lines, hatches and text leave ink where they should") {
  Canvas canvas;
  canvas.line({5, 10}, {25, 10}, rgb(0xff0000));
  canvas.hatch({30, 0, 30, 30}, rgb(0x00ff00));
  canvas.text({4, 50}, "f0", TextStyle::strong, rgb(0xffffff));
  const Image image = raster_image(canvas.list(), {100, 60}, {rgb(0), 1, fonts});
  CHECK(image.at(15, 10) == rgb(0xff0000));
  CHECK(image.at(15, 12) == rgb(0));
  int hatch = 0, hatch_outside = 0, text = 0;
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 100; ++x) {
      const Colour c = image.at(x, y);
      const bool inside = Rect{30, 0, 30, 30}.contains({x + 0.5, y + 0.5});
      if (c.g > 60 && c.r == 0) (inside ? hatch : hatch_outside) += 1;
      if (c.r > 120 && c.g > 120 && c.b > 120 && y > 38 && y <= 52 && x < 24) ++text;
    }
  }
  CHECK(hatch > 100);
  CHECK(hatch < 500);
  CHECK(hatch_outside < 30);  // soft ends of the lines
  CHECK(text > 20);
}

TEST_CASE("straight hatches are whole pixels within their rectangle") {
  Canvas canvas;
  canvas.hatch({10, 10, 23, 20}, rgb(0x00ff00), Hatch::vertical);  // at 12, 16, …, 32
  const Image upright = raster_image(canvas.list(), {50, 40}, {rgb(0), 1, fonts});
  CHECK(count(upright, rgb(0x00ff00)) == 6 * 20);
  CHECK(count(upright, rgb(0)) == 50 * 40 - 6 * 20);
  CHECK(upright.at(12, 10) == rgb(0x00ff00));
  canvas.clear();
  CHECK(canvas.list().empty());
  canvas.hatch({10, 10, 23, 20}, rgb(0x00ff00), Hatch::horizontal);  // at 12, 15, …, 27
  CHECK(count(raster_image(canvas.list(), {50, 40}, {rgb(0), 1, fonts}), rgb(0x00ff00)) == 6 * 23);
}

TEST_CASE("straight hatches are equally wide at every scale") {
  const auto ink = [](Hatch pattern, const Rect& rect, double ratio) {
    Canvas canvas;
    canvas.hatch(rect, rgb(0x00ff00), pattern);
    return count(raster_image(canvas.list(), {48, 40}, {rgb(0), ratio, fonts}), rgb(0x00ff00));
  };
  const Rect upright{8, 8, 24, 20}, level{8, 8, 20, 24};  // lines at 8, 12, …, 28; at 9, 12, …, 30
  CHECK(ink(Hatch::vertical, upright, 1.25) == 6 * 1 * 25);
  CHECK(ink(Hatch::vertical, upright, 1.5) == 6 * 2 * 30);
  CHECK(ink(Hatch::vertical, upright, 2) == 6 * 2 * 40);
  CHECK(ink(Hatch::horizontal, level, 1.25) == 8 * 1 * 25);
  CHECK(ink(Hatch::horizontal, level, 1.5) == 8 * 2 * 30);
}

TEST_CASE("the soft edge of a slanted line fades with the distance from it") {
  Canvas canvas;
  canvas.polyline({{4, 4}, {24, 24}}, rgb(0xff0000));
  const Image image = raster_image(canvas.list(), {30, 30}, {rgb(0), 1, fonts});
  for (int k = 6; k < 22; ++k) {
    CHECK(image.at(k, k) == rgb(0xff0000));
    const double beside = image.at(k + 1, k).r / 255.0;  // its centre is the root of a half away
    CHECK(beside == Approx(1 - std::sqrt(0.5)).margin(0.02));
    CHECK(image.at(k, k + 1).r == Approx(image.at(k + 1, k).r).margin(1));
    CHECK(image.at(k + 2, k) == rgb(0));
  }
}

TEST_CASE("the same list gives the same pixels") {
  Canvas canvas;
  canvas.text({2, 12}, "413.5 ms → 9", TextStyle::normal, rgb(0xdfe4ea));
  canvas.polyline({{0, 0}, {20, 18}, {60, 3}}, rgb(0x8fb3d9), 1.5);
  const RasterOptions options{back, 1.5, fonts};
  CHECK(raster_image(canvas.list(), {80, 20}, options) == raster_image(canvas.list(), {80, 20}, options));
}
