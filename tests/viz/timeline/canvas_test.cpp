// The timeline inside a hosted Dear ImGui: injected input, state and pixels.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#include "viz/timeline/export.h"
#include "viz/timeline/imgui_timeline.h"
#include "viz/timeline/interaction.h"

using namespace planscope::viz;

namespace {

const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};

struct Fixture {
  TimelineModel model = pipeline_timeline(4, 8);
  TimelineIndex index = build_index(model);
  TimelineView view = fit({}, model);
  Theme theme = dark_theme();
  ImGuiHost host{fonts};
  Image last;

  Fixture() { host.resize({1240, 420}, 1); }
  void frame() {
    last = host.frame(theme.background, [&](const FontSet& set) { timeline_canvas(model, index, view, theme, set); });
  }
  void settle() {
    do frame();
    while (host.wants_frame());
  }
  Point centre(const BlockRef& ref) {
    const TimelineLayout layout = lay_out(model, view, {0, 0, 1240, 420});
    const Block& b = model.at(ref);
    return {layout.scale.to_x(b.start + b.duration * 0.5).value, layout.lanes[ref.lane].streams[ref.stream].y + 3};
  }
  Colour pixel(Point p) const { return last.at(static_cast<int>(p.x), static_cast<int>(p.y)); }
};

void save(const Image& image, const std::string& name) {
  std::filesystem::create_directories(PLANSCOPE_PICTURE_DIR);
  std::ofstream(std::string(PLANSCOPE_PICTURE_DIR "/") + name, std::ios::binary) << encode_png(image);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "blocks have the colour of their kind, idle time is hatched") {
  settle();
  CHECK(pixel(centre({0, 0, 0})) == theme.forward);
  CHECK(pixel(centre({0, 0, 5})) == theme.backward);
  CHECK(pixel(centre({3, 0, 2})) == theme.backward);
  const BlockRef idle{0, 0, 4};
  REQUIRE(is_idle(model.at(idle).kind));
  Point p = centre(idle);
  int ink = 0;
  for (int dx = 0; dx < 60; ++dx) ink += pixel({p.x - 30 + dx, p.y}) != theme.background;
  CHECK(ink > 5);
  CHECK(ink < 40);
  save(last, "timeline.png");
}

TEST_CASE_METHOD(Fixture, "a press and release within one frame is a click") {
  settle();
  const BlockRef b0{1, 0, 5};
  const Point p = centre(b0);
  host.mouse_move(p);
  host.mouse_button(ImGuiMouseButton_Left, true);
  host.mouse_button(ImGuiMouseButton_Left, false);
  settle();
  CHECK(view.selection == b0);
  save(last, "timeline_selected.png");
}

TEST_CASE_METHOD(Fixture, "wheel and drag move the view as computed, keys work, then nothing more is drawn") {
  settle();
  host.mouse_move({600, 60});
  settle();
  for (int i = 0; i < 10; ++i) {
    host.wheel(1);
    settle();
  }
  CHECK(view.range.length() / model.duration == Approx(std::pow(0.8, 10)));
  const double begin = view.range.begin.value,
               per_pixel = view.range.length().value / lay_out(model, view, {0, 0, 1240, 420}).body.width;
  host.mouse_button(ImGuiMouseButton_Left, true);
  settle();
  host.mouse_move({500, 60});
  settle();
  host.mouse_button(ImGuiMouseButton_Left, false);
  settle();
  CHECK(view.range.begin.value == Approx(begin + 100 * per_pixel));
  host.key(ImGuiKey_F, true);
  host.key(ImGuiKey_F, false);
  settle();
  CHECK(view.range == TimeRange{Microseconds{0}, model.duration});
  CHECK_FALSE(host.wants_frame());
}

TEST_CASE_METHOD(Fixture, "at twice the pixels the same picture is twice as large") {
  host.resize({1240, 420}, 2);
  settle();
  CHECK(last.width == 2480);
  const Point p = centre({0, 0, 0});
  CHECK(pixel({p.x * 2, p.y * 2}) == theme.forward);
}

TEST_CASE("a report picture is drawn in the light theme") {
  const TimelinePicture picture = timeline_picture(pipeline_timeline(4, 8), {1240, "1F1B on four stages"});
  const Image image = raster_image(picture.list, picture.size, {light_theme().background, 1, fonts});
  CHECK(image.width == 1240);
  CHECK(image.at(1, 1) == rgb(0xffffff));
  save(image, "timeline_report.png");
  std::ofstream(PLANSCOPE_PICTURE_DIR "/timeline_report.svg")
      << to_svg(pipeline_timeline(4, 8), {1240, "1F1B on four stages"});
}
