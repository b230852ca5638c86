// Collectives: overlap, queueing, classes that meet, and classes that wait for each other for ever.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/planner/simulate/hand_made.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

Instruction make(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out, PieceId piece = -1) {
  Instruction i;
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  i.piece = piece;
  return i;
}

// Two devices, one grid axis `t`; products of 1,000 ns; an all_reduce of 4,000 bytes over t takes 2 * 500 ns.
struct Two : Pipeline {
  Two() : Pipeline(make_pipeline({1000, 1000}, 1, Schedule::gpipe)) {
    cluster.levels = {{"link", 2, {0.3}, 1e10, 1}};  // 2 * (300 + 200)
    program.axes = {{"t", 2, 0}};
    program.places = {{0, {}}, {0, {{0, 0}}}, {0, {{0, 1}}}};
    program.values.clear();
    program.transfers.clear();
    program.segments.clear();
    program.classes.clear();
  }
  ProgramValueId value(TensorId t, PlaceId place) {
    program.values.push_back({t, Role::data, 0, place, {}, -1});
    return static_cast<int>(program.values.size()) - 1;
  }
  Instruction reduce(ProgramValueId in, ProgramValueId out) {
    Instruction i = make(Code::issue, {in}, {out});
    i.move.kind = MoveKind::all_reduce;
    i.move.digits = {{0, 2, 1}};
    return i;
  }
  void segment(PlaceId place, std::vector<Instruction> instructions) {
    program.segments.push_back(
        {"s" + std::to_string(program.segments.size()), Phase::forward, place, {}, std::move(instructions)});
  }
  void device_class(PlaceId place, const std::vector<SegmentId>& segments) {
    DeviceClass c;
    c.name = "class " + std::to_string(program.classes.size());
    c.place = program.places[static_cast<std::size_t>(place)];
    for (SegmentId s : segments) c.loops.push_back({1, {{s, {}, {}}}});
    program.classes.push_back(std::move(c));
  }
  Result<Simulation> run() const { return simulate(graph, program, cluster, options); }
};

}  // namespace

TEST_CASE_METHOD(Two, "a collective is hidden behind what is computed before its wait") {
  const auto x = value(0, 0), a = value(1, 0), r = value(1, 0), y = value(1, 0), b = value(2, 0);
  segment(0, {make(Code::load, {}, {x}), make(Code::load, {}, {y}), make(Code::compute, {x}, {a}, 0), reduce(a, r),
              make(Code::wait, {}, {r})});
  device_class(0, {0});
  const Result<Simulation> exposed = run();
  REQUIRE(exposed.ok());
  CHECK(exposed->step_ns == 2000);
  CHECK(exposed->classes[0].idle == Idle{.communication = 1000});
  CHECK(exposed->classes[0].collective == 1000);

  program.segments[0].instructions.insert(program.segments[0].instructions.end() - 1, make(Code::compute, {y}, {b}, 1));
  const Result<Simulation> hidden = run();
  REQUIRE(hidden.ok());
  CHECK(hidden->step_ns == 2000);
  CHECK(hidden->classes[0].idle == Idle{});
  CHECK(hidden->classes[0].collective == 1000);
}

TEST_CASE_METHOD(Two, "collectives run one after the other") {
  const auto x = value(1, 0), r = value(1, 0), q = value(1, 0);
  segment(
      0, {make(Code::load, {}, {x}), reduce(x, r), reduce(x, q), make(Code::wait, {}, {r}), make(Code::wait, {}, {q})});
  device_class(0, {0});
  const Result<Simulation> s = run();
  REQUIRE(s.ok());
  CHECK(s->step_ns == 2000);
  CHECK(s->classes[0].communication.size() == 2);
  CHECK(s->classes[0].communication[1].start == 1000);
  CHECK(s->classes[0].traffic == std::vector<Traffic>{{"all_reduce", 2, 2, {8000}, 8000, {8000}, 0, 2000}});
}

TEST_CASE_METHOD(Two, "classes that share a communicator begin together") {
  const auto x = value(0, 1), a = value(1, 1), y = value(1, 0), r = value(1, 0);
  segment(1, {make(Code::load, {}, {x}), make(Code::compute, {x}, {a}, 0)});  // only the first device
  segment(0, {make(Code::load, {}, {y}), reduce(y, r), make(Code::wait, {}, {r})});
  device_class(1, {0, 1});
  device_class(2, {1});
  const Result<Simulation> s = run();
  REQUIRE(s.ok());
  CHECK(s->step_ns == 2000);
  for (const ClassTimeline& c : s->classes) {
    REQUIRE(c.communication.size() == 1);
    CHECK(c.communication[0].start == 1000);
    CHECK(c.compute + c.idle.sum() == 2000);
  }
  CHECK(s->classes[1].idle.communication == 2000);
}

TEST_CASE_METHOD(Two, "classes that wait for each other are named") {
  const auto a = value(1, 1), a2 = value(1, 2), b = value(1, 2), b2 = value(1, 1);
  program.transfers = {{{a}, {a2}}, {{b}, {b2}}};
  const auto transfer = [](Code code, ProgramValueId v, int t) {
    Instruction i = make(code, {}, {v});
    if (code == Code::send) std::swap(i.in, i.out);
    i.transfer = t;
    return i;
  };
  segment(1, {make(Code::load, {}, {a}), transfer(Code::receive, b2, 1), make(Code::wait, {}, {b2}),
              transfer(Code::send, a, 0)});
  segment(2, {make(Code::load, {}, {b}), transfer(Code::receive, a2, 0), make(Code::wait, {}, {a2}),
              transfer(Code::send, b, 1)});
  device_class(1, {0});
  device_class(2, {1});
  const Result<Simulation> s = run();
  CHECK(!s.value);
  CHECK(to_string(s.diagnostics) ==
        "the device classes wait for each other; class 0 at wait in s0, class 1 at wait in s1\n");
}

TEST_CASE_METHOD(Two, "a slot that is no index of its axes is refused") {
  segment(0, {});
  device_class(0, {0});
  program.classes[0].loops[0].body[0].base = {3};
  program.classes[0].loops[0].body[0].step = {0};
  const Result<Simulation> s = run();
  CHECK(!s.value);
  CHECK(to_string(s.diagnostics) ==
        "a slot of s0 has 1 indices for 0 free axes; the Program is damaged; materialize it again\n");
}

TEST_CASE_METHOD(Two, "without background communication the device's own thread issues and waits") {
  cluster.background = false;
  const auto x = value(0, 0), a = value(1, 0), r = value(1, 0), y = value(1, 0), b = value(2, 0);
  segment(0, {make(Code::load, {}, {x}), make(Code::load, {}, {y}), make(Code::compute, {x}, {a}, 0), reduce(a, r),
              make(Code::compute, {y}, {b}, 1), make(Code::wait, {}, {r})});
  device_class(0, {0});
  const Result<Simulation> s = run();
  REQUIRE(s.ok());
  // Half of the 1,000 ns each, and a copy of the 4,000 bytes before, because the operand is not given up.
  const auto copy = std::llround(1000 * memory_time(8000, cluster.device(0), options.costs).time.count);
  CHECK(s->step_ns == 2000 + 1000 + copy);
  CHECK(s->classes[0].idle == Idle{.communication = 1000 + copy});
  CHECK(s->classes[0].collective == 1000 + copy);
  REQUIRE(s->classes[0].communication.size() == 2);
  CHECK(s->classes[0].communication[1].start == s->step_ns - 500);
  CHECK(s->classes[0].traffic == std::vector<Traffic>{{"all_reduce", 2, 1, {4000}, 4000, {4000}, 0, 1000}});
}
