// Pipelines against the textbook: bubbles, idle causes, in-flight activations, speed.
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "planner/simulate/trace.h"
#include "tests/planner/simulate/hand_made.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

Simulation run(const Pipeline& p) {
  const Result<Simulation> s = simulate(p.graph, p.program, p.cluster, p.options);
  INFO(to_string(s.diagnostics));
  REQUIRE(s.ok());
  return *s;
}

void check_sums(const Simulation& s) {
  for (const ClassTimeline& c : s.classes) CHECK(c.compute + c.idle.sum() == s.step_ns);
}

}  // namespace

TEST_CASE("equal stages have the bubble (p-1)/(m+p-1), in GPipe and in 1F1B") {
  for (const Schedule kind : {Schedule::gpipe, Schedule::one_f_one_b})
    for (const std::int64_t p : {1, 2, 4, 8})
      for (const std::int64_t m : {1, 3, 8, 32}) {
        const Simulation s = run(make_pipeline(std::vector<std::int64_t>(static_cast<std::size_t>(p), 100), m, kind));
        CHECK(s.step_ns == 200 * (m + p - 1));
        CHECK(s.bubble() == Approx(static_cast<double>(p - 1) / static_cast<double>(m + p - 1)));
        check_sums(s);
      }
}

TEST_CASE("idle time has its cause") {
  const Pipeline p = make_pipeline({100, 100, 100, 100}, 8, Schedule::one_f_one_b);
  const Simulation s = run(p);
  check_sums(s);
  CHECK(s.classes[3].idle == Idle{.warm_up = 300, .cool_down = 300});
  // The first stage runs four forwards, waits for the first backward, and in the end for each of the last ones.
  CHECK(s.classes[0].idle == Idle{.warm_up = 300, .cool_down = 300});
  CHECK(s.classes[0].slots.size() == 16);
  CHECK(label(p.program, s.classes[1].slots[4]) == "f(S[1])[3]");
}

TEST_CASE("devices of another kind take their own time, and have their own memory") {
  // 100 ns on the first device are 200 ns on the second, which has half the rate.
  Pipeline mixed = make_pipeline({100, 100}, 4, Schedule::one_f_one_b);
  mixed.cluster.kinds[0].type.memory = {20000};
  mixed.cluster.kinds.push_back({mixed.cluster.kinds[0].type, 1});
  mixed.cluster.kinds[1].type.flops = {{"float32", 5e11}};
  mixed.cluster.kinds[1].type.memory = {6000};
  const Result<Simulation> result = simulate(mixed.graph, mixed.program, mixed.cluster, mixed.options);
  const Simulation s = run(mixed);
  check_sums(s);
  // The second device works 4 x (200 + 200) behind the first forward; the last backward of the first follows.
  CHECK(s.step_ns == 100 + 1600 + 100);
  CHECK(s.classes[0].compute == 800);
  CHECK(s.classes[1].compute == 1600);
  CHECK(s.classes[0].capacity == Bytes{20000});
  CHECK(s.classes[1].capacity == Bytes{6000});
  Simulation unequal = run(make_pipeline({100, 200}, 4, Schedule::one_f_one_b));
  for (std::size_t c = 0; c < 2; ++c) unequal.classes[c].capacity = s.classes[c].capacity;
  CHECK(s == unequal);
  // The first needs more, and has it; the second lacks some.
  CHECK(s.classes[0].peak.bytes() > 6000);
  CHECK(s.classes[0].peak.bytes() <= 20000);
  REQUIRE(s.classes[1].peak.bytes() > 6000);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].what.starts_with("a device of pipe=1 needs "));
  CHECK(result.diagnostics[0].what.ends_with(" has 5.86 KiB there"));
}

TEST_CASE("what a slow stage makes the others wait is imbalance") {
  const Simulation s = run(make_pipeline({100, 300, 100}, 16, Schedule::one_f_one_b));
  check_sums(s);
  for (const int c : {0, 2}) {
    CHECK(s.classes[static_cast<std::size_t>(c)].idle.imbalance == 16 * 400);
    CHECK(s.classes[static_cast<std::size_t>(c)].compute == 16 * 200);
  }
  CHECK(s.classes[1].idle.imbalance == 0);
  CHECK(s.classes[1].idle.warm_up == 100);
}

TEST_CASE("1F1B holds as many activations as stages follow, GPipe all of them") {
  const auto peak = [](const Simulation& s, int c) {
    return s.classes[static_cast<std::size_t>(c)].peak[MemoryKind::activations];
  };
  const Simulation one = run(make_pipeline({100, 100, 100, 100}, 8, Schedule::one_f_one_b));
  const Simulation all = run(make_pipeline({100, 100, 100, 100}, 8, Schedule::gpipe));
  for (int c = 0; c < 4; ++c) {
    CHECK(peak(one, c) == (4 - c) * 4000 + 2 * 4000);  // saved operands, and two gradients in the backward
    CHECK(peak(all, c) == 8 * 4000 + 2 * 4000);
  }
  for (const ClassTimeline& c : one.classes) {
    CHECK(c.memory.back().bytes == 0);
    std::int64_t highest = 0;
    for (std::size_t i = 0; i < c.memory.size(); ++i) {
      highest = std::max(highest, c.memory[i].bytes);
      if (i) CHECK(c.memory[i].time >= c.memory[i - 1].time);
    }
    CHECK(highest == c.peak.bytes());
  }
}

TEST_CASE("detail changes what is recorded, never what happens") {
  Pipeline p = make_pipeline({100, 100, 100}, 6, Schedule::one_f_one_b);
  const Simulation full = run(p);
  p.options.detail_limit = 0;
  const Simulation slots = run(p);
  p.options.window = Window{300, 500};
  const Simulation part = run(p);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(full.classes[c].instructions.size() == 12);
    CHECK(slots.classes[c].instructions.empty());
    CHECK(part.classes[c].instructions.size() < 6);
    CHECK(part.classes[c].instructions.size() > 0);
    for (const Simulation* s : {&slots, &part}) {
      CHECK(s->classes[c].slots == full.classes[c].slots);
      CHECK(s->classes[c].peak == full.classes[c].peak);
      CHECK(s->classes[c].idle == full.classes[c].idle);
      CHECK(s->classes[c].traffic == full.classes[c].traffic);
    }
  }
}

TEST_CASE("traffic counts what a device sends in a step") {
  const Simulation s = run(make_pipeline({100, 100, 100}, 6, Schedule::gpipe));
  CHECK(s.classes[0].traffic == std::vector<Traffic>{{"send", 2, 6, {6 * 4000}, 6 * 4000, {6 * 4000}}});
  CHECK(s.classes[1].traffic == std::vector<Traffic>{{"send", 2, 12, {12 * 4000}, 12 * 4000, {12 * 4000}}});
  CHECK(s.traffic() == std::vector<Traffic>{{"send", 2, 24, {24 * 4000}, 24 * 4000, {24 * 4000}}});
}

TEST_CASE("a trace has a process for each class, its slots and its memory") {
  const Pipeline p = make_pipeline({100, 100}, 3, Schedule::gpipe);
  const Simulation s = run(p);
  const nlohmann::json trace = nlohmann::json::parse(to_chrome_trace(p.graph, p.program, s));
  std::map<std::string, int> phases;
  double last = 0;
  int slots = 0;
  for (const auto& e : trace.at("traceEvents")) {
    ++phases[e.at("ph").get<std::string>()];
    if (e.at("ph") == "X") last = std::max(last, e.at("ts").get<double>() + e.at("dur").get<double>());
    if (e.at("ph") == "X" && e.at("name") == "f(S[1])[2]") ++slots;
  }
  CHECK(phases["M"] == 8);  // 2 classes: a name and three streams
  CHECK(slots == 1);
  CHECK(phases["C"] == static_cast<int>(s.classes[0].memory.size() + s.classes[1].memory.size()));
  CHECK(last == Approx(s.step_us()));
}

TEST_CASE("1,024 micro-batches on 16 stages simulate in under half a second") {
  // Stages of a hundred instructions: as a real model's with tensor parallelism.
  Pipeline p = make_pipeline(std::vector<std::int64_t>(16, 1000), 1024, Schedule::one_f_one_b);
  for (Segment& s : p.program.segments) {
    const auto work = std::find_if(s.instructions.begin(), s.instructions.end(), [](const Instruction& i) {
      return i.code == Code::compute || i.code == Code::backward;
    });
    Instruction add;
    add.code = Code::add;
    add.in = {work->in.front()};
    add.out = {work->out.front()};
    Instruction drop;
    drop.code = Code::free;
    drop.in = add.out;
    std::vector<Instruction> more;
    for (int i = 0; i < 50; ++i) more.insert(more.end(), {add, drop});
    s.instructions.insert(work, more.begin(), more.end());
  }
  CHECK(run(p).classes[0].slots.size() == 2048);
}
