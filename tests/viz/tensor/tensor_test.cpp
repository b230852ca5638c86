// The picture of a tensor: where tiles lie, what input does, what of damaged bytes is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "viz/tensor/draw.h"
#include "viz/tensor/interaction.h"
#include "viz/tensor/scene.h"
#include "viz/tensor/wire.h"

using namespace planscope::viz;

namespace {

constexpr Rect area{0, 0, 1000, 600};

Tile tile(std::vector<std::vector<TileRun>> runs, std::int64_t first, std::int64_t count, const std::string& place) {
  Tile t;
  t.runs = std::move(runs);
  TileDevices d;
  d.first = first;
  if (count > 1) d.axes = {{count, 1}};
  t.devices = {d};
  t.devices_text = count > 1 ? std::to_string(first) + "–" + std::to_string(first + count - 1) : std::to_string(first);
  t.count = count, t.place = place, t.colour = static_cast<std::int32_t>(first);
  return t;
}

// Two devices hold the parts of a sum of each half of the batch; the reader has halves along another dimension.
TensorModel sample() {
  TensorModel m;
  m.name = "down_proj", m.dtype = "float32", m.devices = 4, m.has_gradient = true;
  m.dimensions = {{"batch", 8}, {"seq", 6}, {"hidden", 10}};
  m.axes = {{"mb", 4, 1}};
  const std::vector<TileRun> seq = {{0, 6}}, hidden = {{0, 10}};
  for (std::int64_t half = 0; half < 2; ++half)
    for (std::int64_t part = 0; part < 2; ++part) {
      Tile t = tile({{{half * 4, half * 4 + 4}}, seq, hidden}, half * 2 + part, 1, "data=" + std::to_string(half) +
          ", tensor=" + std::to_string(part));
      t.part = t.part_last = static_cast<std::int32_t>(part), t.part_of = 2, t.part_kind = "sum";
      m.tiles.push_back(std::move(t));
    }
  for (std::int64_t half = 0; half < 2; ++half)
    m.tiles.push_back(tile({{{0, 8}}, {{half * 3, half * 3 + 3}}, hidden}, half * 2, 2, "data=" +
        std::to_string(half)));
  TensorSide writer, reader;
  writer.title = "down_proj", writer.first = 0, writer.tiles = 4;
  reader.title = "add", reader.first = 4, reader.tiles = 2, reader.writer = 0;
  reader.moves.push_back({"all_to_all", "all_to_all over data", {1 << 20}, {12}, {5}, 1});
  m.sides = {writer, reader};
  return m;
}

Input at(Point p) {
  Input in;
  in.mouse = p;
  return in;
}
Input click(Point p) {
  Input in = at(p);
  in.pressed = in.released = true;
  return in;
}
Input press(Key k) {
  Input in;
  in.keys = {k};
  return in;
}
Point middle(const Rect& r) { return {r.x + r.width / 2, r.y + r.height / 2}; }

const SidePicture& side(const TensorLayout& l, int s) {
  return *std::find_if(l.sides.begin(), l.sides.end(), [&](const SidePicture& p) { return p.side == s; });
}

}  // namespace

TEST_CASE("the dimensions that are cut are drawn, and tiles lie where their indices are") {
  const TensorModel m = sample();
  REQUIRE(first_problem(m).empty());
  const TensorView v = first_view(m);
  CHECK(v.down == 0);
  CHECK(v.right == 1);
  const TensorLayout l = lay_out(m, v, area);
  const SidePicture& reader = side(l, 1);
  REQUIRE(reader.tiles.size() == 2);
  CHECK(reader.tiles[1].rects[0].x == Approx(reader.picture.x + reader.picture.width / 2));
  CHECK(reader.tiles[1].rects[0].width == Approx(reader.picture.width / 2));
  CHECK(reader.tiles[1].rects[0].height == Approx(reader.picture.height));
}

TEST_CASE("parts of one value lie at the same place, each with a swatch of its own") {
  const TensorModel m = sample();
  const TensorLayout l = lay_out(m, first_view(m), area);
  const SidePicture& writer = side(l, 0);
  REQUIRE(writer.tiles.size() == 4);
  CHECK(writer.tiles[0].rects == writer.tiles[1].rects);
  CHECK(writer.tiles[0].stack == 2);
  CHECK_FALSE(writer.tiles[0].swatch.empty());
  CHECK(intersection(writer.tiles[0].swatch, writer.tiles[1].swatch).empty());
  const TensorAnswer a = apply(first_view(m), click(middle(writer.tiles[1].swatch)), m, area);
  CHECK(a.commands == std::vector<std::string>{"select tensor=\"down_proj\" place=\"data=0, tensor=1\""});
  CHECK(tooltip(m, a.view).at(4) == "part 2 of 2 of the value (sum)");
}

TEST_CASE("of a dimension that is not drawn one index is looked at, and keys go from block to block") {
  TensorModel m = sample();
  TensorView v = first_view(m);
  v.down = 0, v.right = 2;
  CHECK(side(lay_out(m, v, area), 1).tiles.size() == 1);
  CHECK(side(lay_out(m, v, area), 1).tiles[0].tile == 4);
  v = apply(v, press(Key::page_down), m, area).view;
  CHECK(v.at[1] == 3);
  CHECK(side(lay_out(m, v, area), 1).tiles[0].tile == 5);
  v = apply(v, press(Key::page_down), m, area).view;
  CHECK(v.at[1] == 3);  // there is no block behind it
  v = apply(v, press(Key::d), m, area).view;
  CHECK(std::pair(v.down, v.right) == std::pair(1, 2));
}

TEST_CASE("keys go through tiles and sides, to another index and back") {
  const TensorModel m = sample();
  TensorAnswer a = apply(first_view(m), press(Key::right), m, area);
  CHECK(a.view.tile == 0);
  a = apply(a.view, press(Key::down), m, area);
  CHECK(a.view.side == 1);
  CHECK(a.view.tile == 4);
  CHECK(a.commands == std::vector<std::string>{"select tensor=\"down_proj\" place=\"data=0\""});
  a = apply(a.view, press(Key::period), m, area);
  CHECK(a.commands == std::vector<std::string>{"index mb 2"});
  a = apply(a.view, press(Key::escape), m, area);
  CHECK(a.view.tile == -1);
  CHECK(a.commands == std::vector<std::string>{"select tensor=\"down_proj\""});
}

TEST_CASE("where one index holds little of a dimension that alone is drawn, or on demand the whole") {
  TensorModel m = sample();
  m.dimensions[0].size = 800;
  TensorView v = first_view(m);
  CHECK(drawn(m, v, 0).end == 8);
  CHECK(side(lay_out(m, v, area), 1).tiles[0].rects[0].height == Approx(side(lay_out(m, v, area), 1).picture.height));
  v = apply(v, press(Key::f), m, area).view;
  CHECK(drawn(m, v, 0).end == 800);
  CHECK(side(lay_out(m, v, area), 1).tiles[0].rects[0].height == Approx(side(lay_out(m, v, area),
      1).picture.height / 100));
}

TEST_CASE("the buttons of the header ask for the gradient and for another index") {
  const TensorModel m = sample();
  const TensorLayout l = lay_out(m, first_view(m), area);
  for (const Button& b : l.buttons) {
    const TensorAnswer a = apply(first_view(m), click(middle(b.rect)), m, area);
    if (b.kind == ButtonKind::gradient) CHECK(a.commands == std::vector<std::string>{"gradient"});
    if (b.kind == ButtonKind::index && b.step == -1) CHECK(a.commands == std::vector<std::string>{"index mb 0"});
  }
  CHECK(l.buttons.size() >= 4);
}

TEST_CASE("a click on a slider's track goes there, dragging goes where it is let go, and a number is asked for") {
  const TensorModel m = sample();
  TensorView v = first_view(m);
  v.down = 0, v.right = 2;
  const auto slider = [&](ButtonKind kind) {
    const TensorLayout l = lay_out(m, v, area);
    return *std::find_if(l.sliders.begin(), l.sliders.end(), [&](const Slider& s) { return s.kind == kind; });
  };
  const Slider index = slider(ButtonKind::index), slice = slider(ButtonKind::slice);
  CHECK(knob(index, 1) == Rect{index.track.x + index.track.width / 4, index.track.y + 4, index.track.width / 4, 12});
  const auto place = [](const Slider& s, double share) { return Point{s.track.x + share * s.track.width, s.track.y + 10}; };
  CHECK(apply(v, click(place(index, 0.9)), m, area).commands == std::vector<std::string>{"index mb 3"});
  CHECK(apply(v, click(place(index, 0.3)), m, area).commands.empty());  // it is there
  CHECK(apply(v, click(place(slice, 0.99)), m, area).view.at[1] == 5);
  Input in = at(place(index, 0.3));
  in.pressed = true;
  TensorAnswer a = apply(v, in, m, area);
  a = apply(a.view, at({area.right() + 100, 500}), m, area);
  CHECK(a.commands.empty());
  in = at({area.x - 100, 500});
  in.released = true;
  a = apply(a.view, in, m, area);
  CHECK(a.commands == std::vector<std::string>{"index mb 0"});
  CHECK(a.view.tile == -1);
  CHECK_FALSE(a.view.slide);
  CHECK(apply(v, press(Key::n), m, area).commands == std::vector<std::string>{"index"});
}

TEST_CASE("while a slider is dragged its text says where it would be let go") {
  const TensorModel m = sample();
  const TensorLayout l = lay_out(m, first_view(m), area);
  const auto index = std::find_if(l.sliders.begin(), l.sliders.end(), [](const Slider& s) { return s.kind == ButtonKind::index; });
  Input in = at({index->track.x + 0.3 * index->track.width, index->track.y + 10});
  in.pressed = true;
  const TensorView pressed = apply(first_view(m), in, m, area).view;
  const TensorView dragged = apply(pressed, at({area.right() + 100, 500}), m, area).view;
  const auto text = [&](const TensorView& v) {
    for (const Button& b : lay_out(m, v, area).buttons)
      if (b.kind == ButtonKind::index && b.step == 0) return b.text;
    return std::string();
  };
  CHECK(text(first_view(m)) == "mb 1 of 4");
  CHECK(text(dragged) == "mb 3 of 4");
}

TEST_CASE("however many axes a tensor is cut over, what is in the header stays in it") {
  TensorModel m = sample();
  for (int k = 0; k < 30; ++k) m.axes.push_back(m.axes.front());
  for (const double width : {80.0, 300.0, 900.0}) {
    const TensorLayout l = lay_out(m, first_view(m), {0, 0, width, 600});
    for (const Button& b : l.buttons) CHECK(b.rect.x >= l.header.x);
    for (const Slider& s : l.sliders) CHECK(s.track.x >= l.header.x);
  }
}

TEST_CASE("pointing at a device tells its tile of every side") {
  const TensorModel m = sample();
  const TensorLayout l = lay_out(m, first_view(m), area);
  REQUIRE(l.cells.size() == 4);
  const std::vector<std::string> lines = tooltip(m, apply(first_view(m), at(middle(l.cells[3])), m, area).view);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "device 3");
  CHECK(lines[1] == "down_proj: batch 4:8, seq 0:6, hidden 0:10");
  CHECK(lines[2] == "add: batch 0:8, seq 3:6, hidden 0:10");
}

TEST_CASE("thousands of devices have a strip of at most 64 cells, many sides can be scrolled") {
  TensorModel m = sample();
  m.devices = 8192;
  for (int k = 0; k < 30; ++k) m.sides.push_back(m.sides[1]);
  CHECK(lay_out(m, first_view(m), area).cells.size() == 64);
  const Rect third = lay_out(m, first_view(m), area).cells[2];  // devices 256–383
  for (const auto& [share, device] : {std::pair{0.001, 256}, {0.5, 320}, {0.999, 383}})
    CHECK(tooltip(m, apply(first_view(m), at({third.x + third.width * share, third.y + 4}), m, area).view).front() == "device " + std::to_string(device));
  Input in = at({500, 300});
  in.wheel = -1000;
  const TensorView v = apply(first_view(m), in, m, area).view;
  const TensorLayout l = lay_out(m, v, area);
  CHECK(l.sides.back().frame.bottom() <= l.body.bottom());
  CHECK(l.sides.back().frame.y > l.body.y);
  CHECK(!l.sides.back().tiles.empty());
  CHECK(side(l, 1).tiles.empty());  // out of sight
  CHECK(natural_height(m) >= l.content_height);
}

TEST_CASE("a view is carried over to the same tensor of another plan, and begins again for another one") {
  const TensorModel m = sample();
  TensorView v = apply(first_view(m), press(Key::right), m, area).view;
  v.down = 1, v.right = 2, v.scroll = 7;
  TensorView next = carry_over(v, m, m);
  CHECK(next.down == 1);
  CHECK(next.tile == 0);
  TensorModel other = m;
  other.name = "up_proj";
  next = carry_over(v, m, other);
  CHECK(next.down == 0);
  CHECK(next.tile == -1);
}

TEST_CASE("a tensor of one element, and an empty tile, are drawn") {
  TensorModel m;
  m.name = "loss", m.dtype = "float32", m.devices = 2;
  m.tiles = {tile({}, 0, 2, "")};
  m.sides.resize(1);
  m.sides[0].title = "loss", m.sides[0].tiles = 1;
  REQUIRE(first_problem(m).empty());
  CHECK(side(lay_out(m, first_view(m), area), 0).tiles.at(0).rects.size() == 1);
  TensorModel uneven = sample();
  uneven.tiles[5].runs = {{}, {}, {}};
  REQUIRE(first_problem(uneven).empty());
  const TensorLayout l = lay_out(uneven, first_view(uneven), area);
  CHECK(side(l, 1).empty == std::vector<int>{5});
  Canvas canvas;
  draw_tensor(canvas, uneven, first_view(uneven), area, dark_theme());
  CHECK(std::any_of(canvas.list().begin(), canvas.list().end(), [](const Shape& s) {
    const auto* t = std::get_if<TextShape>(&s);
    return t && t->text.find("nothing on 2–3") != std::string::npos;
  }));
}

TEST_CASE("bytes give the same tensor back; damaged ones, and models that break a rule, nothing") {
  const std::string bytes = encode(sample());
  const std::optional<TensorModel> back = decode_tensor(bytes);
  REQUIRE(back);
  CHECK(encode(*back) == bytes);
  for (std::size_t n = 0; n < bytes.size(); n += 7) CHECK_FALSE(decode_tensor(std::string_view(bytes).substr(0, n)));
  TensorModel m = sample();
  m.sides[1].tiles = 3;
  CHECK_FALSE(decode_tensor(encode(m)));
  m = sample();
  m.sides[1].writer = 1;
  CHECK_FALSE(decode_tensor(encode(m)));
  m = sample();
  m.tiles[0].runs[0][0].end = 9;
  CHECK_FALSE(decode_tensor(encode(m)));
}

TEST_CASE("the view of the scene is kept as text, and nonsense changes nothing") {
  const std::unique_ptr<Scene> scene = make_tensor_scene();
  scene->set_view(R"({"down": "seq", "right": "hidden", "at": {"batch": 4}, "scroll": 3})");
  REQUIRE(scene->load(encode(sample())));
  const std::string view = scene->view();
  CHECK(view == R"({"at":{"batch":4,"hidden":0,"seq":0},"down":"seq","right":"hidden","scroll":3.0,"whole":false})");
  scene->set_view("nonsense");
  scene->set_view(R"({"down": 77, "at": "x", "scroll": "y"})");
  scene->set_view(R"({"down": "nosuch", "at": {"nosuch": 1, "batch": "x"}})");
  CHECK(scene->view() == view);
  scene->set_view(R"({"right": "batch", "at": {"hidden": 99}})");
  CHECK(scene->view() ==
        R"({"at":{"batch":4,"hidden":9,"seq":0},"down":"seq","right":"batch","scroll":3.0,"whole":false})");
}
