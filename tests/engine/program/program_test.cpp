#include <catch2/catch.hpp>

#include "engine/program/program.h"
#include "engine/program/program_json.h"
#include "engine/program/structure.h"
#include "small_program.h"

using namespace planscope;

TEST_CASE("blocks are as equal as possible, the first ones larger") {
  for (const std::int64_t size : {0, 1, 5, 12, 13})
    for (const std::int64_t count : {1, 2, 3, 5, 7}) {
      std::int64_t next = 0;
      for (std::int64_t k = 0; k < count; ++k) {
        const Interval b = block(size, count, k);
        CHECK(b.begin == next);
        CHECK(b.size() == size / count + (k < size % count ? 1 : 0));
        next = b.end;
      }
      CHECK(next == size);
    }
}

TEST_CASE("devices of a place and their coordinates are inverse to each other") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  CHECK(devices(p, p.places[2]) == std::vector<int>{4, 5, 6, 7});
  CHECK(device_count(p, p.places[1]) == 4);
  CHECK(point_of(p, p.places[2], 6) == Point{1, 1, 0, -1});
  CHECK(point_of(p, p.places[1], 6).empty());
  for (const Place& place : p.places)
    for (const int d : devices(p, place)) {
      const Point at = point_of(p, place, d);
      REQUIRE(!at.empty());
      CHECK(at[0] * 4 + at[1] * 2 + at[2] == d);
    }
  CHECK(class_of(p, 1) == 0);
  CHECK(class_of(p, 5) == 1);
}

TEST_CASE("a grid may list its devices in any order") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  p.grids[0].devices = {7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(devices(p, p.places[1]) == std::vector<int>{7, 6, 5, 4});
  CHECK(point_of(p, p.places[0], 6) == Point{0, 0, 1, -1});
  p.device_count = 6;
  CHECK(to_string(check_structure(p, g)) ==
        "the program is damaged; grids[0]: it has more coordinates than there are devices\n");
}

TEST_CASE("a device without axes has a point all the same") {
  Program p;
  p.grids = {{"all", {}, {}, 3, {}}};
  p.places = {{0, {}}};
  CHECK(devices(p, p.places[0]) == std::vector<int>{3});
  CHECK(!point_of(p, p.places[0], 3).empty());
  CHECK(point_of(p, p.places[0], 2).empty());
}

TEST_CASE("a region nests the blocks of its digits") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  const TensorId x = g.ops[0].outputs[0].tensor;  // [8, 6, 16]
  const Point at{0, 1, 1, 2};                     // data 1, tensor 1, mb 2
  const auto r = region(g, x, p.layouts[2], at);
  CHECK(r == std::vector<std::vector<Interval>>{{{5, 6}}, {{0, 6}}, {{8, 16}}});
  CHECK(local_sizes(g, x, p.layouts[2], at) == std::vector<std::int64_t>{1, 6, 8});
  CHECK(local_elements(g, x, p.layouts[2]) == 48);
  CHECK(describe(p, g, p.layouts[3], x) == "[batch/mb,data, seq, hidden] partial(tensor)");
  CHECK(digit_value({1, 2, 1}, {-1, -1}) == -1);
  CHECK(digit_value({0, 2, 4}, {6}) == 1);
}

TEST_CASE("slots of overlapping steps: what is ahead begins before the rest, and nothing goes beyond the last step") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  CHECK(most_ahead(p) == 0);
  p.classes[0].loops = {{1, {{0, {0}, {0}, 2}, {0, {1}, {0}}}}};
  CHECK(most_ahead(p) == 2);
  CHECK(period(p.classes[0]) == std::vector<SlotRun>{{0, {0}, 2}, {0, {1}}});
  CHECK(slots(p.classes[0]) == std::vector<SlotRun>{{0, {0}, 2, 0}, {0, {1}, 0, 0}});
  CHECK(slots(p.classes[0], 3) ==
        std::vector<SlotRun>{
            {0, {0}, 2, 0}, {0, {0}, 2, 1}, {0, {0}, 2, 2}, {0, {1}, 0, 0}, {0, {1}, 0, 1}, {0, {1}, 0, 2}});
  const Result<Program> read = program_from_json(to_json(p), g);
  REQUIRE(read.ok());
  CHECK(*read == p);
  p.classes[0].loops[0].body[0].ahead = -1;
  CHECK_FALSE(check_structure(p, g).empty());
}

TEST_CASE("slots unroll loops") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  CHECK(slots(p.classes[0]) == std::vector<SlotRun>{{0, {0}}, {0, {1}}, {0, {2}}, {0, {3}}});
  CHECK(check_structure(p, g).empty());
}

TEST_CASE("a turned digit names every block once while its axis runs") {
  const Program p = tiny::small_program(tiny::tiny_graph(1));
  const Digit d{3, 4, 1, {}, 1, 3, 2, 1};  // (1 + 3 * mb + 2 * data) % 4
  CHECK(is_turned(d));
  CHECK(is_bijection(p, d));
  CHECK(digit_value(d, {0, 0, 0, 0}) == 1);
  CHECK(digit_value(d, {0, 0, 0, 2}) == 3);
  CHECK(digit_value(d, {0, 1, 0, 2}) == 1);
  CHECK(digit_value(d, {0, 1, 0, -1}) == -1);
  CHECK_THROWS(digit_value(d, {0, -1, 0, 1}));
  CHECK_FALSE(is_bijection(p, {3, 4, 1, {}, 1, 2, 1, 0}));
  CHECK(plain(d) == Digit{3, 4, 1});
  CHECK_FALSE(same(d, plain(d)));
  const Digit data{1, 2, 1};
  CHECK_FALSE(is_home(p, {data}, d));                          // two devices do not hold four blocks
  CHECK_FALSE(is_home(p, {data}, {3, 2, 1, {}, 1, 1, 1, 0}));  // half an axis
}

TEST_CASE("blocks of two axes are at home where a device has those of every index of one") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  const AxisId half = static_cast<AxisId>(p.axes.size()), ring = half + 1;
  p.axes.push_back({"half", 2, -1});
  p.axes.push_back({"ring", 4, -1});
  Digit mirrored{1, 2, 1, {}, half, 1, 1, 0};  // data at half=0, 1-data at half=1
  Digit every{half, 2, 1};
  every.reach = Reach::every;
  const Digit turned{ring, 4, 1, {}, 1, 1, 1, 0};  // (ring + data) % 4
  CHECK(is_home(p, {every, mirrored}, turned));
  CHECK(is_home(p, {every, {1, 2, 1}}, turned));
  CHECK_FALSE(is_home(p, {mirrored}, turned));                               // half of the blocks
  CHECK_FALSE(is_home(p, {{half, 2, 1}, mirrored}, turned));                 // at one index
  CHECK_FALSE(is_home(p, {every, {2, 2, 1}}, turned));                       // other devices
  CHECK_FALSE(is_home(p, {every, mirrored}, {ring, 4, 1, {}, 1, 1, 0, 0}));  // two devices read one block
  const TensorId x = g.ops[0].outputs[0].tensor;                             // [8, 6, 16]
  const Layout home{{{0, 0, {every, mirrored}}}, {}};
  CHECK(holds_every(home));
  Point at(p.axes.size(), 0);
  at[1] = 1;
  const auto blocks = regions(g, x, p, home, at);
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0][0] == std::vector<Interval>{{2, 4}});  // block 1 of the first half
  CHECK(blocks[1][0] == std::vector<Interval>{{4, 6}});  // block 0 of the second one
  CHECK(local_elements(g, x, home) == 4 * 6 * 16);
  CHECK(describe(p, g, home, x) == "[batch/|half|,(data+half)%2, seq, hidden]");
}

TEST_CASE("a digit that reaches over what lies before it names a prefix") {
  const Graph g = tiny::tiny_graph(1);
  const Program p = tiny::small_program(g);
  const TensorId x = g.ops[0].outputs[0].tensor;  // [8, 6, 16]
  Digit mb{3, 4, 1};
  mb.reach = Reach::prefix;
  const Layout prefix{{{0, 0, {mb}}}, {}};
  CHECK(region(g, x, prefix, {0, 0, 0, 0})[0] == std::vector<Interval>{{0, 2}});
  CHECK(region(g, x, prefix, {0, 0, 0, 2})[0] == std::vector<Interval>{{0, 6}});
  CHECK(local_elements(g, x, prefix) == 8 * 6 * 16);  // the largest
  CHECK(describe(p, g, prefix, x) == "[batch/..mb, seq, hidden]");
}
