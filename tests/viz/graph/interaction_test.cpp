// What input does to the view, and what it asks for.
#include "viz/graph/interaction.h"

#include <catch2/catch.hpp>

#include "tests/viz/graph/sample_graph.h"
#include "viz/graph/draw.h"
#include "viz/graph/scene.h"
#include "viz/graph/wire.h"

using namespace planscope::viz;
using planscope::testing::sample_graph;

namespace {

const Rect area{0, 0, 1200, 500};

Point on_screen(const GraphModel& m, const GraphView& v, int node) {
  const Rect r = to_screen(v, areas(m, v, area).body, m.rect(node));
  return {r.x + r.width / 2, r.y + r.height / 2};
}

// Presses and releases there.
GraphChange click(GraphView v, const GraphModel& m, Point p, bool twice = false) {
  v = apply(std::move(v), {.mouse = p}, m, area).view;
  v = apply(std::move(v), {.mouse = p, .pressed = true}, m, area).view;
  if (twice) return apply(std::move(v), {.mouse = p, .pressed = true, .double_click = true}, m, area);
  return apply(std::move(v), {.mouse = p, .released = true}, m, area);
}

bool has_text(const DisplayList& list, const std::string& text) {
  for (const Shape& s : list)
    if (const auto* t = std::get_if<TextShape>(&s); t && t->text.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a click selects a node, a chip, or nothing") {
  const GraphModel m = sample_graph();
  const GraphView v = fitted({}, m, area);
  CHECK(click(v, m, on_screen(m, v, 0)).commands == std::vector<std::string>{"select operators=\"embed\""});
  CHECK(click(v, m, on_screen(m, v, 3)).view.focus == 3);
  const Rect chip = chip_rect(m, v, areas(m, v, area).body, 1);
  CHECK(click(v, m, {chip.x + 3, chip.y + 3}).commands == std::vector<std::string>{"select tensor=\"t\""});
  CHECK(click(v, m, {5, area.bottom() - 40}).commands == std::vector<std::string>{"select none"});
}

TEST_CASE("a node is under the point before the box that it is in") {
  const GraphModel m = sample_graph();
  const GraphView v = fitted({}, m, area);
  CHECK(hit_test(m, v, area, on_screen(m, v, 2)).node == 2);
  const Rect box = to_screen(v, areas(m, v, area).body, m.rect(1));
  CHECK(hit_test(m, v, area, {box.x + 4, box.y + 4}).node == 1);
}

TEST_CASE("a double click or Enter expands what is folded and folds what is expanded") {
  const GraphModel m = sample_graph();
  const GraphView v = fitted({}, m, area);
  const GraphChange expand = click(v, m, on_screen(m, v, 3), true);
  CHECK(expand.commands == std::vector<std::string>{"expand \"mlp\""});
  CHECK(expand.activated == 3);
  CHECK(click(v, m, on_screen(m, v, 0), true).commands.empty());
  GraphView focused = v;
  focused.focus = 1;
  CHECK(apply(focused, {.mouse = {}, .keys = {Key::enter}}, m, area).commands ==
        std::vector<std::string>{"collapse \"layer\""});
}

TEST_CASE("arrows go along the edges, by way of what is communicated on them") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  std::vector<std::pair<int, int>> seen;  // node, chip
  std::vector<std::string> commands;
  for (int k = 0; k < 7; ++k) {
    const GraphChange c = apply(v, {.mouse = {}, .keys = {Key::right}}, m, area);
    v = c.view;
    seen.emplace_back(v.focus, v.focus_chip);
    commands.insert(commands.end(), c.commands.begin(), c.commands.end());
  }
  CHECK(seen == std::vector<std::pair<int, int>>{{0, -1}, {-1, 0}, {2, -1}, {-1, 1}, {3, -1}, {4, -1}, {4, -1}});
  CHECK(commands.at(1) == "select tensor=\"t\"");
  const auto from = [&](int node, int chip, Direction d) {
    const std::optional<GraphStop> to = neighbour(m, v, {node, chip, {}}, d);
    return to ? std::pair(to->node, to->chip) : std::pair(-1, -1);
  };
  CHECK(from(4, -1, Direction::left) == std::pair(3, -1));
  CHECK(from(3, -1, Direction::left) == std::pair(-1, 1));
  CHECK(from(-1, 1, Direction::left) == std::pair(2, -1));
  v.backward = false;  // the chip of the gradient is not there
  CHECK(from(0, -1, Direction::right) == std::pair(2, -1));
}

TEST_CASE("up and down go from chip to chip of one edge, and a chip that is hidden has no focus") {
  GraphModel m = sample_graph();
  m.add_chip(m.chip_edge.back(), {.title = "reduce_scatter", .about = "32 MiB", .gradient = true, .exposed = true});
  GraphView v = fitted({}, m, area);
  v.focus_chip = 1;
  v = apply(v, {.mouse = {}, .keys = {Key::down}}, m, area).view;
  CHECK(v.focus_chip == 2);
  CHECK(carry_over(v, m, m, "", area).focus_chip == 2);
  CHECK(carry_over(v, m, {}, "", area).focus_chip == -1);
  v = apply(v, {.mouse = {}, .keys = {Key::up}}, m, area).view;
  CHECK(v.focus_chip == 1);
  v = apply(v, {.mouse = {}, .keys = {Key::w}}, m, area).view;
  CHECK(v.focus_chip == -1);
}

TEST_CASE("what the keyboard is at is said in words") {
  const std::unique_ptr<Scene> s = make_graph_scene();
  REQUIRE(s->load(encode(sample_graph())));
  CHECK(s->selected().empty());
  s->apply({.mouse = {}, .keys = {Key::right}}, area);
  CHECK(s->selected() == std::vector<std::string>{"embed", "a fact"});
  s->apply({.mouse = {}, .keys = {Key::right}}, area);
  CHECK(s->selected() == std::vector<std::string>{"a tensor", "hidden"});
  s->apply({.mouse = {}, .keys = {Key::escape}}, area);
  CHECK(s->selected().empty());
}

TEST_CASE("the graph of another model has nothing of what the keyboard was at") {
  const std::unique_ptr<Scene> s = make_graph_scene();
  REQUIRE(s->load(encode(sample_graph())));
  s->apply({.mouse = {}, .keys = {Key::right, Key::right}}, area);
  REQUIRE(!s->selected().empty());
  GraphModel other;  // without a node
  other.name = "another";
  REQUIRE(s->load(encode(other)));
  CHECK(s->selected().empty());
  Canvas c;
  s->draw(c, area, light_theme());
  CHECK(s->apply({.mouse = Point{30, 80}}, area).empty());
}

TEST_CASE("the keyboard goes on from the begin of an edge whose chip has gone") {
  const std::unique_ptr<Scene> s = make_graph_scene();
  GraphModel m = sample_graph();
  REQUIRE(s->load(encode(m)));
  s->apply({.mouse = {}, .keys = {Key::right, Key::right}}, area);
  REQUIRE(s->selected() == std::vector<std::string>{"a tensor", "hidden"});
  s->set_view(R"({"backward": false})");
  s->apply({.mouse = {}}, area);
  CHECK(s->selected() == std::vector<std::string>{"embed", "a fact"});
}

TEST_CASE("a path and neighbours are asked of the session") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  v.focus = 4;
  const Point p = on_screen(m, v, 0);
  v = apply(v, {.mouse = p, .pressed = true, .shift = true}, m, area).view;
  CHECK(apply(v, {.mouse = p, .released = true, .shift = true}, m, area).commands ==
        std::vector<std::string>{"path \"head\" \"embed\""});
  CHECK(apply(v, {.mouse = {}, .keys = {Key::a}}, m, area).commands == std::vector<std::string>{"neighbours"});
}

TEST_CASE("in the bar a click on a box goes there, and one on a switch turns it") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  v.focus = 3;
  const auto press_on = [&](BarKind kind, int node = -1) {
    for (const BarItem& item : bar_items(m, v, areas(m, v, area).bar))
      if (item.kind == kind && item.node == node)
        return click(v, m, {item.rect.x + item.rect.width / 2, item.rect.y + 8});
    FAIL("there is no such item");
    return GraphChange{};
  };
  const GraphChange box = press_on(BarKind::node, 1);
  CHECK(box.commands == std::vector<std::string>{"select operators=\"layer\""});
  CHECK(box.view.focus == 1);
  const Rect body = areas(m, box.view, area).body, there = to_screen(box.view, body, m.rect(1));
  CHECK(there.x + there.width / 2 == Approx(body.x + body.width / 2));
  CHECK_FALSE(press_on(BarKind::forward).view.forward);
  CHECK_FALSE(press_on(BarKind::backward).view.backward);
  CHECK_FALSE(press_on(BarKind::update).view.update);
  v.zoom = 3;
  CHECK(press_on(BarKind::whole).view.zoom <= 1);
}

TEST_CASE("the lane of parameters shows of each direction what its switch says") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  const auto drawn = [&] {
    Canvas c;
    draw_graph(c, m, v, area, dark_theme());
    return c.list();
  };
  CHECK(has_text(drawn(), "4 MiB at home"));
  CHECK(lane_of(m, v, 3).height == Approx(4 * graph_lane_line + 4));
  CHECK(lane_of(m, v, 2).empty());
  v.update = false;
  CHECK_FALSE(has_text(drawn(), "4 MiB at home"));
  CHECK_FALSE(has_text(drawn(), "update 1 ms"));
  CHECK(has_text(drawn(), "fetch all_gather"));
  v.forward = false;
  CHECK_FALSE(has_text(drawn(), "fetch all_gather"));
  CHECK(has_text(drawn(), "gradient sums"));
  v.backward = false;
  CHECK(lane_of(m, v, 3).empty());
}

TEST_CASE("what is searched for is gone through node by node") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  std::vector<int> seen;
  for (int k = 0; k < 3; ++k) {
    v = apply(v, {.mouse = {}, .keys = {Key::n}}, m, area).view;
    seen.push_back(v.focus);
  }
  CHECK(seen == std::vector<int>{2, 3, 2});
  Canvas c;
  draw_graph(c, m, v, area, dark_theme());
  CHECK(has_text(c.list(), "'m': 2 found"));
}

TEST_CASE("the wheel keeps the point under the mouse, a drag moves it with the mouse") {
  const GraphModel m = sample_graph();
  GraphView v = fitted({}, m, area);
  const Point p{400, 200};
  const Rect body = areas(m, v, area).body;
  const Point before = to_graph(v, body, p);
  v = apply(v, {.mouse = p, .wheel = 3}, m, area).view;
  CHECK(v.zoom > 1);
  CHECK(to_graph(v, body, p).x == Approx(before.x));
  CHECK(to_graph(v, body, p).y == Approx(before.y));
  v = apply(v, {.mouse = p, .pressed = true}, m, area).view;
  const GraphChange dragged = apply(v, {.mouse = Point{p.x + 50, p.y + 20}}, m, area);
  CHECK(to_graph(dragged.view, body, {p.x + 50, p.y + 20}).x == Approx(before.x));
  CHECK(apply(dragged.view, {.mouse = Point{p.x + 50, p.y + 20}, .released = true}, m, area).commands.empty());
  const GraphView home = apply(dragged.view, {.mouse = {}, .keys = {Key::home}}, m, area).view;
  const Rect whole = to_screen(home, body, {0, 0, m.width, m.height});
  CHECK(whole.x >= body.x);
  CHECK(whole.right() <= body.right());
}

TEST_CASE("what was expanded stays where it is on the screen") {
  const GraphModel before = sample_graph();
  GraphModel after = sample_graph();
  for (float& x : after.x) x += 300;
  const GraphView v = fitted({}, before, area);
  const GraphView now = carry_over(v, before, after, "mlp", area);
  CHECK(on_screen(after, now, 3).x == Approx(on_screen(before, v, 3).x));
  GraphView focused = v;
  focused.focus = 4;
  CHECK(carry_over(focused, before, after, "", area).focus == 4);
  CHECK(carry_over(focused, before, {}, "", area).focus == -1);
}

TEST_CASE("the direction of communication can be switched off") {
  const GraphModel m = sample_graph();
  const auto drawn = [&](const GraphView& v) {
    Canvas c;
    draw_graph(c, m, v, area, dark_theme());
    return c.list();
  };
  GraphView v = fitted({}, m, area);
  CHECK(has_text(drawn(v), "all_gather"));
  CHECK(has_text(drawn(v), "← all_reduce"));
  v = apply(v, {.mouse = {}, .keys = {Key::w}}, m, area).view;
  CHECK_FALSE(has_text(drawn(v), "all_gather"));
  CHECK(has_text(drawn(v), "← all_reduce"));
  v = apply(v, {.mouse = {}, .keys = {Key::s}}, m, area).view;
  CHECK_FALSE(has_text(drawn(v), "← all_reduce"));
}

TEST_CASE("a scene takes a graph, keeps its picture when bytes are damaged, and gives its view back") {
  const std::unique_ptr<Scene> s = make_graph_scene();
  CHECK_FALSE(s->load("no graph"));
  REQUIRE(s->load(encode(sample_graph())));
  CHECK_FALSE(s->load("no graph"));
  s->mark({"mlp", "nothing"});
  Canvas c;
  s->draw(c, area, light_theme());
  CHECK(has_text(c.list(), "mlp"));
  CHECK(has_text(c.list(), "pipe=1"));
  CHECK(has_text(c.list(), "sample"));
  s->set_view(R"({"x": 10, "y": 20, "zoom": 2, "backward": false})");
  const std::string view = s->view();
  s->apply({.mouse = {}, .keys = {Key::home}}, area);
  CHECK(s->view() != view);
  s->set_view(view);
  CHECK(s->view() == view);
  s->set_view("[");
  CHECK(s->view() == view);
  CHECK(s->natural_size().width > sample_graph().width);
}

TEST_CASE("the kind of a node stands behind its title where there is room for it, and what is communicated in it keeps its own") {
  const auto drawn = [](const NodeAbout& about) {
    GraphModel m;
    m.add_node(about, {20, 20, 236, 80});
    GraphView v;
    Canvas canvas;
    draw_graph(canvas, m, v, area, light_theme());
    return has_text(canvas.list(), about.kind);
  };
  CHECK(drawn({.id = "mlp", .title = "mlp", .kind = "LlamaMLP"}));
  CHECK(drawn({.id = "mlp", .title = "mlp", .kind = "LlamaMLP", .within = "↑↓ 1.2 ms"}));
  CHECK_FALSE(drawn({.id = "mlp", .title = "mlp", .kind = "A kind that is too long for it", .within = "↑↓ 1.2 ms"}));
  CHECK_FALSE(drawn({.id = "mlp", .title = "a title that leaves no room for it", .kind = "LlamaMLP"}));
}
