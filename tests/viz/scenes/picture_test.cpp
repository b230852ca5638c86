// Pictures as files: none is larger than a report can hold, whatever it shows.
#include <catch2/catch.hpp>
#include <cstdint>

#include "viz/scenes/picture.h"

using namespace planscope::viz;

namespace {

// Small squares of colours that nothing can compress, as single blocks of very many lanes are.
class Noise : public Scene {
 public:
  explicit Noise(double side) : side_(side) {}
  bool load(std::string_view) override { return true; }
  void mark(const std::vector<std::string>&) override {}
  std::vector<std::string> apply(const Input&, const Rect&) override { return {}; }
  void draw(Canvas& canvas, const Rect& area, const Theme&) const override {
    std::uint32_t n = 1;
    for (double y = area.y; y < area.bottom(); y += side_)
      for (double x = area.x; x < area.right(); x += side_) {
        n = n * 1664525 + 1013904223;
        canvas.fill({x, y, side_, side_}, {static_cast<std::uint8_t>(n >> 24), static_cast<std::uint8_t>(n >> 16), static_cast<std::uint8_t>(n >> 8)});
      }
  }
  std::vector<std::string> tooltip() const override { return {}; }
  std::string view() const override { return "{}"; }
  void set_view(std::string_view) override {}
  Size natural_size() const override { return {1200, 2000}; }

 private:
  double side_;
};

std::size_t width_of(const std::string& png) {
  std::size_t out = 0;
  for (std::size_t k = 16; k < 20; ++k) out = out * 256 + static_cast<unsigned char>(png.at(k));
  return out;
}

}  // namespace

TEST_CASE("a picture that would take more than a file may hold has fewer pixels") {
  const Noise scene(2);
  const Size size = scene.natural_size();
  const std::optional<std::string> png = scene_png(scene, size, "noise", light_theme(), 1);
  REQUIRE(png);
  CHECK(png->starts_with("\x89PNG"));
  CHECK(png->size() <= most_picture_bytes);
  CHECK(png->size() > most_picture_bytes / 4);
  CHECK(width_of(*png) < 1200);
  const std::optional<std::string> svg = scene_svg(scene, size, "noise & more", light_theme());
  REQUIRE(svg);
  CHECK(svg->size() <= most_picture_bytes);
  CHECK(svg->size() > most_picture_bytes / 4);
  CHECK(svg->find("noise &amp; more (as pixels") != std::string::npos);
  CHECK(svg->ends_with("</svg>\n"));
}

TEST_CASE("a picture keeps the pixels that were wanted where they fit") {
  const std::optional<std::string> png = scene_png(Noise(40), {400, 300}, "few", light_theme(), 2);
  REQUIRE(png);
  CHECK(width_of(*png) == 800);
  CHECK(scene_svg(Noise(40), {400, 300}, "few", light_theme())->find("<image") == std::string::npos);
}

TEST_CASE("there is no picture where a file cannot hold as many pixels as can be read") {
  CHECK_FALSE(scene_png(Noise(10), {8000, 9000}, "noise", light_theme(), 0.1));
}

TEST_CASE("a caption has as many lines as it needs, and nothing of it is cut where it fits") {
  const std::string caption = "llama_tiny · plan on dgx-h100x1 · step 4.55 ms · equivalent";
  const std::string narrow = *scene_svg(Noise(40), {300, 100}, caption, light_theme());
  for (const char* line : {">llama_tiny · plan on dgx-h100x1<", ">step 4.55 ms · equivalent<"}) {
    INFO(narrow.substr(0, 1500));
    CHECK(narrow.find(line) != std::string::npos);
  }
  CHECK(scene_svg(Noise(40), {900, 100}, caption, light_theme())->find(">" + caption + "<") != std::string::npos);
}
