// The timeline as a scene: input, view, commands and pixels.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#include "viz/timeline/export.h"
#include "viz/timeline/interaction.h"
#include "viz/timeline/scene.h"
#include "viz/timeline/wire.h"

using namespace planscope::viz;

namespace {

const FontFiles fonts{PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"};

const Rect area{0, 0, 1240, 446};

struct Fixture {
  TimelineModel model = pipeline_timeline(4, 8);
  std::unique_ptr<Scene> scene = make_timeline_scene();
  Theme theme = dark_theme();
  ImGuiHost host{fonts};
  Image last;

  Fixture() {
    host.resize({area.width, area.height}, 1);
    REQUIRE(scene->load(encode(model)));
  }
  void frame() {
    Canvas canvas;
    scene->draw(canvas, area, theme);
    last = host.frame(canvas.list(), theme.background);
  }
  std::vector<std::string> click(Point p) {
    scene->apply({.mouse = p, .pressed = true}, area);
    return scene->apply({.mouse = p, .released = true}, area);
  }
  TimeRange range() const {
    const auto j = nlohmann::json::parse(scene->view());
    return {Microseconds{j["from_us"]}, Microseconds{j["to_us"]}};
  }
  TimelineLayout layout() const {
    TimelineView view = fit({}, model);
    view.range = range();
    return lay_out(model, view, {0, 0, area.width, area.height - legend_height(build_index(model), area.width)});
  }
  Point centre(const BlockRef& ref) const {
    const Block& b = model.at(ref);
    const TimelineLayout l = layout();
    return {l.scale.to_x(b.start + b.duration * 0.5).value, l.lanes[ref.lane].streams[ref.stream].y + 3};
  }
  Colour pixel(Point p) const { return last.at(static_cast<int>(p.x), static_cast<int>(p.y)); }
};

void save(const Image& image, const std::string& name) {
  std::filesystem::create_directories(PLANSCOPE_PICTURE_DIR);
  std::ofstream(std::string(PLANSCOPE_PICTURE_DIR "/") + name, std::ios::binary) << encode_png(image);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "blocks have the colour of their kind, idle time is hatched") {
  frame();
  CHECK(pixel(centre({0, 0, 0})) == theme.forward);
  const auto between_hatch = [&](const BlockRef& ref) {
    int plain = 0;
    for (int dx = -5; dx < 6; ++dx) plain += pixel({centre(ref).x + dx, centre(ref).y}) == theme.backward;
    return plain;
  };
  for (const BlockRef& ref : {BlockRef{0, 0, 5}, BlockRef{3, 0, 2}}) {
    CHECK(between_hatch(ref) >= 5);
    CHECK(between_hatch(ref) < 11);
  }
  const BlockRef idle{0, 0, 4};
  REQUIRE(is_idle(model.at(idle).kind));
  Point p = centre(idle);
  int ink = 0;
  for (int dx = 0; dx < 60; ++dx) ink += pixel({p.x - 30 + dx, p.y}) != theme.background;
  CHECK(ink > 5);
  CHECK(ink < 40);
  save(last, "timeline.png");
}

TEST_CASE_METHOD(Fixture, "a click selects a block, outlines it and goes to its statement") {
  for (Lane& lane : model.lanes)
    for (Stream& stream : lane.streams)
      for (Block& b : stream.blocks) b.instruction = is_idle(b.kind) ? -1 : 0;
  model.details = {{.title = "one", .plan_line = 7}};
  REQUIRE(scene->load(encode(model)));
  frame();
  const Image before = last;
  const Block& block = model.at({1, 0, 5});
  char time[80];
  std::snprintf(time, sizeof time, "%.3f..%.3f", block.start.value, block.end().value);
  CHECK(click(centre({1, 0, 5})) == std::vector<std::string>{"select statement=7 time=" + std::string(time) + " lane=\"stage 1\" stream=\"compute\""});
  REQUIRE_FALSE(scene->selected().empty());
  CHECK(scene->selected().front() == "one");
  scene->apply({}, area);
  frame();
  CHECK(last.rgba != before.rgba);
  save(last, "timeline_selected.png");
}

TEST_CASE_METHOD(Fixture, "lanes are folded, pinned, opened and selected by commands") {
  frame();
  const TimelineLayout l = layout();
  const auto inside = [](const Rect& r) { return Point{r.x + r.width / 2, r.y + r.height / 2}; };
  CHECK(click(inside(l.lanes[2].toggle)) == std::vector<std::string>{"lane \"stage 2\" fold=on"});
  CHECK(click({l.lanes[1].label.x + 60, l.lanes[1].label.y + 8}) == std::vector<std::string>{"select lane=\"stage 1\""});
  const Point over = centre({3, 0, 2});
  const auto key = [&](Key k) { return scene->apply({.mouse = over, .keys = {k}}, area); };
  CHECK(key(Key::p) == std::vector<std::string>{"lane \"stage 3\" pin=on"});
  CHECK(key(Key::o) == std::vector<std::string>{"lane \"stage 3\" fold=on"});
  CHECK(key(Key::x) == std::vector<std::string>{"lane \"stage 3\" devices=on"});
  model.lanes[2].folded = true;
  REQUIRE(scene->load(encode(model)));
  CHECK(click(inside(layout().lanes[2].toggle)) == std::vector<std::string>{"lane \"stage 2\" fold=off"});
  frame();
  save(last, "timeline_folded.png");
}

TEST_CASE_METHOD(Fixture, "a label says what its lane computes; what is left of the devices of a lane means that one") {
  model.lanes[1].about = "S[1]: layers 8–15";
  model.lanes[2].is_device = model.lanes[3].is_device = true;  // of the lane before them
  model.lanes[2].devices = 1;
  model.lanes[3].devices = 15;
  REQUIRE(scene->load(encode(model)));
  frame();
  Canvas canvas;
  scene->draw(canvas, area, theme);
  const auto says = [&](const std::string& text) {
    return std::any_of(canvas.list().begin(), canvas.list().end(), [&](const Shape& s) {
      const auto* t = std::get_if<TextShape>(&s);
      return t && t->text == text;
    });
  };
  CHECK(says("S[1] · 16 devices"));
  CHECK(says("layers 8–15"));
  const auto label = [&](std::size_t l) { return Point{layout().lanes[l].label.x + 60, layout().lanes[l].label.y + 8}; };
  scene->apply({.mouse = label(1)}, area);
  CHECK(scene->tooltip() == std::vector<std::string>{"stage 1", "16 devices", "S[1]: layers 8–15"});
  CHECK(click(label(2)) == std::vector<std::string>{"select lane=\"stage 2\""});
  CHECK(click(label(3)) == std::vector<std::string>{"select lane=\"stage 1\""});
}

TEST_CASE_METHOD(Fixture, "where plans are compared, nothing is said of lanes and times") {
  for (Lane& lane : model.lanes)
    for (Stream& stream : lane.streams)
      for (Block& b : stream.blocks) b.instruction = is_idle(b.kind) ? -1 : 0;
  model.details = {{.title = "one", .plan_line = 7}};
  model.compared = true;
  REQUIRE(scene->load(encode(model)));
  CHECK(click(centre({1, 0, 5})) == std::vector<std::string>{"select statement=7"});
  CHECK(click({layout().lanes[1].label.x + 60, layout().lanes[1].label.y + 8}) == std::vector<std::string>{"select none"});
  CHECK(scene->apply({.mouse = centre({3, 0, 2}), .keys = {Key::p}}, area).empty());
}

TEST_CASE_METHOD(Fixture, "an area that is drawn up is selected, a click on a memory curve selects a moment") {
  const TimelineLayout l = layout();
  scene->apply({.mouse = Point{300, l.lanes[1].streams[0].y + 2}, .pressed = true, .shift = true}, area);
  scene->apply({.mouse = Point{700, l.lanes[2].streams[0].y + 2}}, area);
  frame();
  save(last, "timeline_area.png");
  const std::vector<std::string> commands = scene->apply({.mouse = Point{700, l.lanes[2].streams[0].y + 2}, .released = true}, area);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].starts_with("select time="));
  CHECK(commands[0].ends_with(" lane=\"stage 1\" lane=\"stage 2\""));
  CHECK(range() == TimeRange{Microseconds{0}, model.duration});
  model.lanes[0].peak_at = Microseconds{30000};
  REQUIRE(scene->load(encode(model)));
  const double x = layout().scale.to_x(Microseconds{30000}).value;
  CHECK(click({x + 4, l.lanes[0].memory.y + 10}) == std::vector<std::string>{"select time=30000.000 lane=\"stage 0\""});
  frame();
  const Image before = last;
  scene->mark({"time 30000 90000", "within stage 0", "lane stage 3"});
  frame();
  CHECK(last.rgba != before.rgba);
  save(last, "timeline_time.png");
  CHECK(scene->apply({.keys = {Key::escape}}, area) == std::vector<std::string>{"select none"});
}

TEST_CASE_METHOD(Fixture, "single operators are asked for where they are not known, once") {
  model.detail = Detail{{}, {}, 1000};  // a thousand operators each microsecond
  REQUIRE(scene->load(encode(model)));
  std::vector<std::string> asked;
  const auto zoom_in = [&](int turns) {
    for (int i = 0; i < turns; ++i)
      for (const std::string& line : scene->apply({.mouse = Point{600, 60}, .wheel = 1}, area)) asked.push_back(line);
  };
  zoom_in(5);
  CHECK(asked.empty());  // too many
  zoom_in(40);
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].starts_with("detail time="));
  model.detail = Detail{Microseconds{0}, model.duration, 1000};
  REQUIRE(scene->load(encode(model)));
  scene->apply({.mouse = Point{600, 60}, .wheel = -3}, area);
  CHECK(asked.size() == 1);
}

TEST_CASE_METHOD(Fixture, "Z goes back to the view before, Shift+Z forward") {
  const std::string whole = scene->view();
  for (int i = 0; i < 6; ++i) scene->apply({.mouse = Point{600, 60}, .wheel = 1}, area);
  const std::string close = scene->view();
  scene->apply({.keys = {Key::z}}, area);
  CHECK(scene->view() == whole);
  scene->apply({.shift = true, .keys = {Key::z}}, area);
  CHECK(scene->view() == close);
}

TEST_CASE_METHOD(Fixture, "what is selected elsewhere is outlined") {
  frame();
  const Image before = last;
  model.details[0].operators = {3, 17};
  REQUIRE(scene->load(encode(model)));
  scene->mark({"operator 17", "line 99", "operator x", ""});
  frame();
  CHECK(last.rgba != before.rgba);
  scene->mark({});
  frame();
  CHECK(last.rgba == before.rgba);
}

TEST_CASE_METHOD(Fixture, "wheel and drag move the view as computed, keys work, a view is restored") {
  for (int i = 0; i < 10; ++i) scene->apply({.mouse = Point{600, 60}, .wheel = 1}, area);
  CHECK(range().length() / model.duration == Approx(std::pow(0.8, 10)));
  const double begin = range().begin.value, per_pixel = range().length().value / layout().body.width;
  scene->apply({.mouse = Point{600, 60}, .pressed = true}, area);
  scene->apply({.mouse = Point{500, 60}}, area);
  scene->apply({.mouse = Point{500, 60}, .released = true}, area);
  CHECK(range().begin.value == Approx(begin + 100 * per_pixel));
  const std::string kept = scene->view();
  scene->apply({.keys = {Key::home}}, area);
  CHECK(range() == TimeRange{Microseconds{0}, model.duration});
  const std::unique_ptr<Scene> other = make_timeline_scene();
  other->set_view(kept);
  REQUIRE(other->load(encode(model)));
  CHECK(other->view() == kept);
}

TEST_CASE_METHOD(Fixture, "what is measured between marks is part of the view, and stays when everything is looked at") {
  const double y = layout().lanes[0].streams[0].y + 4;
  for (const double x : {400.0, 700.0}) {
    scene->apply({.mouse = Point{x, y}}, area);
    scene->apply({.mouse = Point{x, y}, .keys = {Key::m}}, area);
  }
  const auto marks = nlohmann::json::parse(scene->view())["marks"];
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].get<double>() < marks[1].get<double>());
  const std::unique_ptr<Scene> other = make_timeline_scene();
  other->set_view(scene->view());
  REQUIRE(other->load(encode(model)));
  other->show_all();
  CHECK(nlohmann::json::parse(other->view())["marks"] == marks);
  Canvas canvas;
  other->draw(canvas, area, theme);
  const std::string measured = format_time(Microseconds{marks[1].get<double>() - marks[0].get<double>()});
  CHECK(std::any_of(canvas.list().begin(), canvas.list().end(), [&](const Shape& s) {
    const auto* t = std::get_if<TextShape>(&s);
    return t && t->text.find(measured) != std::string::npos;
  }));
  for (const char* wrong : {"[1, \"x\"]", "[-1]", "7", "[1e300]"}) other->set_view(std::string("{\"marks\": ") + wrong + "}");
  CHECK(nlohmann::json::parse(other->view())["marks"] == marks);
  other->set_view("{\"marks\": []}");
  CHECK(nlohmann::json::parse(other->view())["marks"].empty());
}

TEST_CASE_METHOD(Fixture, "damaged bytes change nothing, whatever they are") {
  const std::string bytes = encode(model), view = scene->view();
  CHECK_FALSE(scene->load(""));
  CHECK_FALSE(scene->load("TIML"));
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97) CHECK_FALSE(scene->load(bytes.substr(0, cut)));
  for (std::size_t at = 0; at < bytes.size(); at += 13) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x80);
    scene->load(damaged);
    Canvas canvas;
    scene->draw(canvas, area, theme);
  }
  REQUIRE(scene->load(bytes));
  scene->set_view("{\"from_us\": \"x\", \"scroll\": 1e300");
  scene->set_view(view);
  CHECK(scene->view() == view);
}

TEST_CASE_METHOD(Fixture, "at twice the pixels the same picture is twice as large") {
  host.resize({area.width, area.height}, 2);
  frame();
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
