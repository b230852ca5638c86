#include "viz/timeline/interaction.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/timeline/dependencies.h"
#include "viz/timeline/reorder.h"
#include "viz/timeline/view_history.h"

using namespace planscope::viz;

namespace {

constexpr Rect area{0, 0, 1000, 300};
const TimelineModel model = pipeline_timeline(4, 8);

TimelineInput at(double x, double y) {
  TimelineInput input;
  input.mouse = Point{x, y};
  return input;
}

TimelineView key(TimelineView view, TimelineKey k) {
  TimelineInput input;
  input.keys = {k};
  return apply(view, input, model, area);
}

Point centre_of(const TimelineView& view, const BlockRef& ref) {
  const TimelineLayout layout = lay_out(model, view, area);
  const Block& b = model.at(ref);
  return {layout.scale.to_x(b.start + b.duration * 0.5).value, layout.lanes[ref.lane].streams[ref.stream].y + 4};
}

}  // namespace

TEST_CASE("a block that is dragged with Control asks for another order of tasks") {
  TimelineModel m;
  m.duration = Microseconds{600};
  m.details = {{.title = "f", .task = "f(S[1])", .index_axes = {{"mb", 3}}},
               {.title = "b", .task = "b(S[1])", .index_axes = {{"mb", 3}}},
               {.title = "send"},
               {.title = "update", .task = "update"}};
  Stream compute{"compute", StreamKind::compute, {}};
  for (int k = 0; k < 3; ++k) compute.blocks.push_back({{k * 100.0}, {90}, BlockKind::forward, k, 0, "f"});
  compute.blocks.push_back({{290}, {10}, BlockKind::idle_data, -1, -1, ""});
  for (int k = 0; k < 2; ++k) compute.blocks.push_back({{300 + k * 100.0}, {90}, BlockKind::backward, k, 1, "b"});
  compute.blocks.push_back({{500}, {90}, BlockKind::update, -1, 3, "u"});
  m.lanes.push_back({"one", 1, {compute}, {}, {}});
  m.lanes.push_back({"two", 1, {compute}, {}, {}});
  CHECK(task_of(m, {0, 0, 4}) == "b(S[1])[mb=0]");
  CHECK(task_of(m, {0, 0, 3}).empty());
  CHECK(task_of(m, {0, 0, 6}) == "update");
  const TimelineView whole = fit({}, m);
  const TimelineLayout layout = lay_out(m, whole, area);
  const auto dropped = [&](int block, double us, int lane = 0) {
    const Rect& stream = layout.lanes[static_cast<std::size_t>(lane)].streams[0];
    return reorder(m, layout, {0, 0, block}, {layout.scale.to_x(Microseconds{us}).value, stream.y + 3});
  };
  const auto text = [](const std::optional<Reorder>& r) {
    return r ? r->task + (r->before ? " before " : " after ") + r->other : std::string("-");
  };
  CHECK(text(dropped(4, 120)) == "b(S[1])[mb=0] before f(S[1])[mb=1]");
  CHECK(text(dropped(4, 180)) == "b(S[1])[mb=0] before f(S[1])[mb=2]");
  CHECK(text(dropped(4, 295)) == "-");  // where it is
  CHECK(text(dropped(4, 470)) == "b(S[1])[mb=0] after b(S[1])[mb=1]");
  CHECK(text(dropped(4, 599)) == "b(S[1])[mb=0] after update");
  CHECK(text(dropped(0, 599)) == "f(S[1])[mb=0] after update");
  CHECK(text(dropped(4, 120, 1)) == "-");  // another lane
  m.details[0].index_axes = {{"mb", 2}, {"tok", 2}};
  CHECK(task_of(m, {0, 0, 2}) == "f(S[1])[mb=1, tok=0]");

  TimelineView view = whole;
  const auto send = [&](double us, bool pressed, bool released) {
    TimelineInput input = at(layout.scale.to_x(Microseconds{us}).value, layout.lanes[0].streams[0].y + 3);
    input.pressed = pressed, input.released = released, input.control = true;
    view = apply(view, input, m, area);
  };
  send(340, true, false);
  CHECK(view.moving == BlockRef{0, 0, 4});
  send(120, false, false);
  CHECK(view.dragging);
  CHECK(view.range.begin.value == whole.range.begin.value);  // it is moved, not the view
  send(120, false, true);
  CHECK_FALSE(view.moving);
  send(50, true, false);
  send(295, true, false);
  CHECK_FALSE(view.moving);  // idle time is no task
}

TEST_CASE("the wheel zooms about the mouse") {
  TimelineView view = fit({}, model);
  TimelineInput input = at(500, 60);
  const Microseconds under = lay_out(model, view, area).scale.to_time(Pixels{500});
  input.wheel = 1;
  for (int i = 0; i < 5; ++i) view = apply(view, input, model, area);
  CHECK(view.range.length() / model.duration == Approx(std::pow(0.8, 5)));
  CHECK(lay_out(model, view, area).scale.to_time(Pixels{500}).value == Approx(under.value));
  input.wheel = -1;
  for (int i = 0; i < 50; ++i) view = apply(view, input, model, area);
  CHECK(view.range.length() / model.duration == Approx(1.1));
}

TEST_CASE("dragging moves what is under the mouse, a click selects, a click on nothing deselects") {
  TimelineView view = fit({}, model);
  TimelineInput zoomed = at(500, 60);
  zoomed.wheel = 4;
  view = apply(view, zoomed, model, area);
  TimelineInput press = at(500, 60);
  press.pressed = true;
  view = apply(view, press, model, area);
  const Microseconds under = lay_out(model, view, area).scale.to_time(Pixels{500});
  view = apply(view, at(450, 60), model, area);
  view = apply(view, at(430, 60), model, area);
  CHECK(view.dragging);
  CHECK(lay_out(model, view, area).scale.to_time(Pixels{430}).value == Approx(under.value));
  TimelineInput release = at(430, 60);
  release.released = true;
  view = apply(view, release, model, area);
  CHECK_FALSE(view.selection);

  view = fit(view, model);
  const BlockRef b0{0, 0, 5};
  const Point p = centre_of(view, b0);
  TimelineInput click = at(p.x, p.y);
  click.pressed = click.released = true;
  view = apply(view, click, model, area);
  CHECK(view.selection == b0);
  TimelineInput away = at(p.x, lay_out(model, view, area).lanes[0].memory.y + 2);
  away.pressed = away.released = true;
  CHECK_FALSE(apply(view, away, model, area).selection);
}

TEST_CASE("keys walk over the work of a lane and between lanes, and keep it in sight") {
  TimelineView view = key(fit({}, model), TimelineKey::next);
  REQUIRE(view.selection);
  CHECK(model.at(*view.selection).label == "f0");
  for (int i = 0; i < 4; ++i) view = key(view, TimelineKey::next);
  CHECK(model.at(*view.selection).label == "b0");
  view = key(view, TimelineKey::previous);
  CHECK(model.at(*view.selection).label == "f3");
  TimelineView down = key(key(key(view, TimelineKey::lane_down), TimelineKey::lane_down), TimelineKey::lane_down);
  CHECK(down.selection->lane == 3);
  CHECK(down.scroll > 0);
  const TimelineLayout layout = lay_out(model, down, area);
  CHECK(layout.lanes[3].label.bottom() <= layout.body.bottom());
  CHECK(key(down, TimelineKey::lane_down).selection == down.selection);
  CHECK_FALSE(key(down, TimelineKey::deselect).selection);

  TimelineView close = view;
  close.range = {Microseconds{0}, Microseconds{5000}};
  close = key(close, TimelineKey::next);
  const Block& block = model.at(*close.selection);
  CHECK(block.start >= close.range.begin);
  CHECK(block.end() <= close.range.end);
}

TEST_CASE("keys zoom about the selection, F fits it and then everything") {
  TimelineView view = key(key(fit({}, model), TimelineKey::next), TimelineKey::next);
  const Block block = model.at(*view.selection);
  const Microseconds middle = block.start + block.duration * 0.5;
  for (int i = 0; i < 30; ++i) view = key(view, TimelineKey::zoom_in);
  CHECK(view.range.begin <= middle);
  CHECK(view.range.end >= middle);
  view = key(view, TimelineKey::fit);
  CHECK(view.range.begin <= block.start);
  CHECK(view.range.end >= block.end());
  CHECK(view.range.length() < block.duration * 2);
  CHECK(shows_all(key(view, TimelineKey::fit), model));
  CHECK(shows_all(key(view, TimelineKey::fit_all), model));
}

TEST_CASE("a view is carried over to another version of its model") {
  TimelineModel longer = model;
  longer.duration = longer.duration * 1.5;
  TimelineView view = key(fit({}, model), TimelineKey::next);
  TimelineView all = carry_over(view, model, longer);
  CHECK(shows_all(all, longer));
  CHECK(all.selection == view.selection);
  view = key(view, TimelineKey::zoom_in);
  CHECK(carry_over(view, model, longer).range == view.range);
}

TEST_CASE("a tooltip tells what, how long and where") {
  const std::vector<std::string> lines = tooltip(model, {0, 0, 0});
  CHECK(lines == std::vector<std::string>{"f0", "forward · micro-batch 0", "10 ms, from 0 to 10 ms",
                                          "stage 0 · compute", "memory at its end: 38 GiB"});
}

TEST_CASE("dragging with Shift draws up an area at the edges of blocks, and leaves the view where it is") {
  TimelineView view = fit({}, model);
  const TimelineLayout layout = lay_out(model, view, area);
  const Block& f1 = model.at({1, 0, 2});
  const Block& f2 = model.at({2, 0, 2});
  TimelineInput press = at(layout.scale.to_x(f1.start).value + 2, layout.lanes[1].streams[0].y + 3);
  press.pressed = press.shift = true;
  view = apply(view, press, model, area);
  view = apply(view, at(layout.scale.to_x(f2.end()).value - 3, layout.lanes[2].streams[0].y + 5), model, area);
  CHECK(shows_all(view, model));
  const std::optional<SelectedArea> drawn = drawn_area(view, model, area);
  REQUIRE(drawn);
  CHECK(drawn->time == TimeRange{f1.start, f2.end()});
  CHECK(drawn->lanes == std::vector<std::string>{"stage 1", "stage 2"});
  TimelineInput release = at(200, 100);
  release.released = true;
  view = apply(view, release, model, area);
  CHECK_FALSE(drawn_area(view, model, area));
  CHECK_FALSE(view.selection);
}

TEST_CASE("a block depends on the messages that it waits for, and on what it reads in its own lane and run") {
  TimelineModel m;
  m.duration = Microseconds{100};
  m.details = {{.title = "a"}, {.title = "b"}, {.title = "c"}};
  m.details[2].reads = {0, 1};
  Lane lane{"x", 1, {{"compute", StreamKind::compute, {}}, {"collective", StreamKind::communication, {}}}, {}, {}};
  const auto block = [](double at, int micro_batch, int instruction) {
    return Block{Microseconds{at}, Microseconds{5}, BlockKind::forward, micro_batch, instruction, ""};
  };
  lane.streams[0].blocks = {block(0, 0, 0), block(20, 0, 2), block(30, 1, 0), block(60, 1, 2)};
  lane.streams[1].blocks = {block(10, 0, 1), block(40, 1, 1)};
  m.lanes = {lane};
  const auto has = [](const std::vector<Link>& all, const BlockRef& from, const BlockRef& to) {
    return std::any_of(all.begin(), all.end(), [&](const Link& l) { return l.from == from && l.to == to; });
  };
  const std::vector<Link> first = dependencies(m, {0, 0, 1}), second = dependencies(m, {0, 0, 3});
  CHECK(first.size() == 2);
  CHECK(has(first, {0, 0, 0}, {0, 0, 1}));
  CHECK(has(first, {0, 1, 0}, {0, 0, 1}));
  CHECK(second.size() == 2);
  CHECK(has(second, {0, 0, 2}, {0, 0, 3}));
  CHECK(has(second, {0, 1, 1}, {0, 0, 3}));
  const std::vector<Link> of_a = dependencies(m, {0, 0, 0});
  CHECK(of_a.size() == 1);
  CHECK(has(of_a, {0, 0, 0}, {0, 0, 1}));
}

TEST_CASE("F fits the selected time where no block is selected") {
  TimelineView view = fit({}, model);
  view.time = TimeRange{Microseconds{20000}, Microseconds{60000}};
  view = key(view, TimelineKey::fit);
  CHECK(view.range.begin <= Microseconds{20000});
  CHECK(view.range.end >= Microseconds{60000});
  CHECK(view.range.length() < Microseconds{50000});
  CHECK(shows_all(key(view, TimelineKey::fit), model));
}

TEST_CASE("views are gone back to and forward, turns of the wheel together") {
  ViewHistory history;
  const auto looked = [](double from) { return Looked{{Microseconds{from}, Microseconds{from + 10}}, 0}; };
  for (int i = 0; i < 5; ++i) history.moved(looked(i), looked(i + 1), Motion::wheel);
  history.moved(looked(5), looked(50), Motion::jump);
  history.moved(looked(50), looked(60), Motion::jump);
  CHECK(history.back(looked(60)) == looked(50));
  CHECK(history.back(looked(50)) == looked(5));
  CHECK(history.forward(looked(5)) == looked(50));
  CHECK(history.back(looked(50)) == looked(5));
  CHECK(history.back(looked(5)) == looked(0));
  CHECK_FALSE(history.back(looked(0)));
  history.moved(looked(0), looked(7), Motion::key);
  CHECK_FALSE(history.forward(looked(7)));
}

TEST_CASE("at its peak a lane says what needs memory most") {
  TimelineModel with = model;
  with.lanes[0].peak_at = Microseconds{30000};
  with.lanes[0].alive = {{"saved for backward by layers.*", MemoryKind::activations, Bytes{1024.0 * 1024}}};
  const std::vector<std::string> peak = memory_tooltip(with, 0, Microseconds{30000}), before = memory_tooltip(with, 0, Microseconds{0});
  CHECK(peak.front() == "peak of stage 0 at 30 ms: 56 GiB of 80 GiB");
  CHECK(peak.back() == "1 MiB  saved for backward by layers.*");
  CHECK(before == std::vector<std::string>{"stage 0 at 0: 29 GiB of 80 GiB"});
}

TEST_CASE("an empty model takes every input") {
  const TimelineModel empty;
  TimelineView view = fit({}, empty);
  for (int k = 0; k <= static_cast<int>(TimelineKey::mark); ++k) {
    TimelineInput input = at(500, 50);
    input.wheel = 1, input.pressed = input.released = true, input.keys = {static_cast<TimelineKey>(k)};
    view = apply(view, input, empty, area);
  }
  CHECK_FALSE(view.selection);
  CHECK(std::isfinite(view.range.length().value));
}
