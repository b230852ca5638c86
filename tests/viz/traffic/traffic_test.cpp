// The picture of communication: where cells lie, what input does, what of damaged bytes is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "viz/traffic/draw.h"
#include "viz/traffic/interaction.h"
#include "viz/traffic/scene.h"
#include "viz/traffic/wire.h"

using namespace planscope::viz;

namespace {

constexpr Rect area{0, 0, 1000, 600};

// Rows send to their neighbour, and the first one to the last one.
TrafficModel sample(int rows = 16) {
  TrafficModel m;
  m.devices = rows;
  m.communicators.resize(2);
  m.communicators[0].kind = "all_reduce", m.communicators[0].over = "tensor", m.communicators[0].level = "nvlink";
  m.communicators[1].kind = "send", m.communicators[1].over = "pipe", m.communicators[1].level = "infiniband";
  for (int i = 0; i < rows; ++i) {
    for (auto* names : {&m.rows, &m.row_devices, &m.places}) names->push_back(std::to_string(i));
    m.from.push_back(i), m.to.push_back(i ^ 1), m.communicator.push_back(0), m.bytes.push_back(1e6),
        m.messages.push_back(4), m.time.push_back(20);
  }
  m.from.push_back(0), m.to.push_back(rows - 1), m.communicator.push_back(1), m.bytes.push_back(5e5),
      m.messages.push_back(1), m.time.push_back(10);
  m.links.push_back({"nvlink", 3e11, {0, 1e6, 2e6, 0}});
  m.duration = Microseconds{40};
  return m;
}

Point cell(const TrafficLayout& l, int from, int to) {
  return {l.matrix.x + (to + 0.5 - l.to_row) * l.cell, l.matrix.y + (from + 0.5 - l.from_row) * l.cell};
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

}  // namespace

TEST_CASE("every cell is found where it is drawn") {
  const TrafficModel m = sample();
  const TrafficLayout l = lay_out(m, {}, area);
  for (int i = 0; i < 16; i += 3)
    for (int j = 0; j < 16; j += 5) CHECK(cell_at(m, l, cell(l, i, j)) == std::pair(i, j));
  CHECK_FALSE(cell_at(m, l, {l.matrix.x - 2, l.matrix.y + 5}));
}

TEST_CASE("what a cell holds is summed, all or of one communicator, in bytes or in messages") {
  TrafficModel m = sample();
  m.from.push_back(0), m.to.push_back(1), m.communicator.push_back(1), m.bytes.push_back(3e6), m.messages.push_back(2),
      m.time.push_back(5);
  TrafficView v;
  TrafficSums s = sums(m, v);
  CHECK(s.value[1] == 4e6);
  CHECK(s.most[1] == 1);
  CHECK(s.largest == 4e6);
  v.only = 0;
  CHECK(sums(m, v).value[1] == 1e6);
  v.measure = Measure::messages;
  CHECK(sums(m, v).value[1] == 4);
  v.measure = Measure::time;
  CHECK(sums(m, v).value[1] == 20);
  CHECK(sums(m, v).most[15] == -1);
}

TEST_CASE("the wheel zooms about the mouse, dragging moves the matrix, and neither leaves it") {
  const TrafficModel m = sample(64);
  TrafficView v;
  const TrafficLayout before = lay_out(m, v, area);
  const Point p = cell(before, 20, 40);
  Input in = at(p);
  in.wheel = 4;
  v = apply(v, in, m, area).view;
  const TrafficLayout l = lay_out(m, v, area);
  CHECK(l.rows == Approx(64 * 0.4096));
  CHECK(cell_at(m, l, p) == std::pair(20, 40));
  in = at(p);
  in.pressed = true;
  v = apply(v, in, m, area).view;
  v = apply(v, at({p.x + 3 * l.cell, p.y}), m, area).view;
  CHECK(v.to_row == Approx(l.to_row - 3));
  v = apply(v, at({p.x + 90000, p.y}), m, area).view;
  CHECK(v.to_row == 0);
  in = at(p);
  in.released = true;
  const TrafficAnswer a = apply(v, in, m, area);
  CHECK(a.commands.empty());  // a drag is no click
  CHECK(apply(a.view, press(Key::home), m, area).view.rows == 0);
}

TEST_CASE("a click on a cell selects the device that sends; on a communicator, shows that alone") {
  const TrafficModel m = sample();
  const TrafficLayout l = lay_out(m, {}, area);
  TrafficAnswer a = apply({}, click(cell(l, 3, 2)), m, area);
  CHECK(a.commands == std::vector<std::string>{"select place=\"3\""});
  a = apply(a.view, click(cell(l, 3, 9)), m, area);
  CHECK(a.commands.empty());  // the same device
  a = apply(a.view, click({l.communicators[1].x + 5, l.communicators[1].y + 5}), m, area);
  CHECK(a.view.only == 1);
  a = apply(a.view, click({l.communicators[1].x + 5, l.communicators[1].y + 5}), m, area);
  CHECK(a.view.only == -1);
  a = apply(a.view, press(Key::escape), m, area);
  CHECK(a.commands == std::vector<std::string>{"select none"});
  TrafficModel folded = m;
  folded.devices_per_row = 128;
  folded.places[3] = "pipe=0";
  CHECK(apply({}, click(cell(l, 3, 2)), folded, area).commands == std::vector<std::string>{"select place=\"pipe=0\""});
  folded.places[3] = "";
  CHECK(apply({}, click(cell(l, 3, 2)), folded, area).commands.empty());
}

TEST_CASE("dragging over the links asks for a range of time, a click for the whole step again, or selects the link") {
  TrafficModel m = sample();
  const Rect chart = lay_out(m, {}, area).links[0];
  TrafficView begun;
  const auto drag = [&](double from, double to) {
    Input in = at({chart.x + from * chart.width, chart.y + 5});
    in.pressed = true;
    const TrafficView v = apply(begun, in, m, area).view;
    in = at({chart.x + to * chart.width, chart.y + 9});
    in.released = true;
    return apply(v, in, m, area).commands;
  };
  CHECK(drag(0.25, 0.75) == std::vector<std::string>{"brush time=10.000..30.000"});
  CHECK(drag(0.75, 0.25) == std::vector<std::string>{"brush time=10.000..30.000"});
  CHECK(drag(0.5, 0.5) == std::vector<std::string>{"select link=\"nvlink\""});
  begun.marked_links = {0};
  CHECK(drag(0.5, 0.5) == std::vector<std::string>{"select none"});
  m.range_to = Microseconds{5};
  CHECK(drag(0.5, 0.5) == std::vector<std::string>{"brush time=\"\""});
}

TEST_CASE("what cells measure and which kinds are shown is chosen below the matrix") {
  TrafficModel m = sample();
  TrafficLayout l = lay_out(m, {}, area);
  const auto press_on = [&](const std::string& text) {
    for (const TrafficLayout::Choice& c : l.choices)
      if (c.text == text) return apply({}, click({c.rect.x + 4, c.rect.y + 4}), m, area);
    FAIL("there is no choice " << text);
    return TrafficAnswer{};
  };
  CHECK(press_on("time").view.measure == Measure::time);
  CHECK(press_on("send").commands == std::vector<std::string>{"brush kind=send"});
  m.shown = "send";
  l = lay_out(m, {}, area);
  CHECK(press_on("✕ send").commands == std::vector<std::string>{"brush"});
}

TEST_CASE("a kind of communication has a hatch, in the cells, in the list and below the matrix") {
  Canvas canvas;
  draw_traffic(canvas, sample(), {}, area, light_theme());
  std::map<Hatch, int> hatches;
  for (const Shape& shape : canvas.list())
    if (const auto* hatch = std::get_if<HatchShape>(&shape)) ++hatches[hatch->pattern];
  REQUIRE(hatches.size() == 2);  // all_reduce, send
  CHECK(hatches[Hatch::rising] == 16 + 2);  // a cell of each row; in the list, and below the matrix
  CHECK(hatches[Hatch::falling] == 1 + 2);
}

TEST_CASE("keys go from cell to cell and keep it in sight") {
  const TrafficModel m = sample(64);
  TrafficView v;
  v.rows = 8;
  for (int k = 0; k < 30; ++k) v = apply(v, press(Key::down), m, area).view;
  REQUIRE(v.selection == std::pair(29, 0));
  const TrafficLayout l = lay_out(m, v, area);
  CHECK(l.from_row <= 29);
  CHECK(l.from_row + l.rows >= 30);
  CHECK(apply(v, press(Key::page_down), m, area).view.only == 0);
  CHECK(apply(v, press(Key::m), m, area).view.measure == Measure::messages);
}

TEST_CASE("pointing at a cell says who sends how much to whom") {
  const TrafficModel m = sample();
  const TrafficLayout l = lay_out(m, {}, area);
  const std::vector<std::string> lines = tooltip(m, apply({}, at(cell(l, 0, 1)), m, area).view);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "device 0 to device 1");
  CHECK(lines[2] == "all_reduce over tensor: 976.6 KiB in 4 messages, 20 µs");
  CHECK(tooltip(m, apply({}, at(cell(l, 5, 9)), m, area).view).at(1) == "nothing");
}

TEST_CASE("small cells stay visible, and another plan keeps what still exists") {
  const TrafficModel m = sample(64);
  Canvas canvas;
  draw_traffic(canvas, m, {}, area, light_theme());
  CHECK(canvas.list().size() > 64);
  TrafficView v;
  v.only = 1, v.selection = std::pair(60, 3);
  TrafficModel other = sample(16);
  std::swap(other.communicators[0], other.communicators[1]);
  const TrafficView next = carry_over(v, m, other);
  CHECK(next.only == 0);
  CHECK_FALSE(next.selection);
  other.communicators.clear();
  CHECK(carry_over(v, m, other).only == -1);
}

TEST_CASE("bytes give the same picture back; damaged ones, and models that break a rule, nothing") {
  const std::string bytes = encode(sample());
  const std::optional<TrafficModel> back = decode_traffic(bytes);
  REQUIRE(back);
  CHECK(encode(*back) == bytes);
  for (std::size_t n = 0; n < bytes.size(); n += 7) CHECK_FALSE(decode_traffic(std::string_view(bytes).substr(0, n)));
  TrafficModel m = sample();
  m.to[0] = 16;
  CHECK_FALSE(decode_traffic(encode(m)));
  m = sample();
  m.bytes.pop_back();
  CHECK_FALSE(decode_traffic(encode(m)));
  m = sample();
  m.bytes[0] = -1;
  CHECK_FALSE(decode_traffic(encode(m)));
}

TEST_CASE("the view of the scene is kept as text, and nonsense changes nothing") {
  const std::unique_ptr<Scene> scene = make_traffic_scene();
  REQUIRE(scene->load(encode(sample())));
  scene->set_view(R"({"from_row": 2, "to_row": 3, "rows": 8, "measure": "time"})");
  const std::string view = scene->view();
  CHECK(view == R"({"from_row":2.0,"measure":"time","rows":8.0,"scroll":0.0,"to_row":3.0})");
  scene->set_view("nonsense");
  scene->set_view(R"({"rows": "x"})");
  CHECK(scene->view() == view);
}
