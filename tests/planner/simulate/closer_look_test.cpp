// A step played again to look closer: what is alive, what a task may be delayed by, what it costs the step.
#include "planner/simulate/closer_look.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/planner/simulate/hand_made.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

struct Looked : Pipeline {
  Looked(const std::vector<std::int64_t>& stages, std::int64_t micro_batches, Schedule kind)
      : Pipeline(make_pipeline(stages, micro_batches, kind)), now(*simulate(graph, program, cluster, options)), look(graph, program, cluster, options) {}
  SegmentId segment(const std::string& name) const {
    const auto found = std::find_if(program.segments.begin(), program.segments.end(), [&](const Segment& s) { return s.name == name; });
    REQUIRE(found != program.segments.end());
    return static_cast<SegmentId>(found - program.segments.begin());
  }
  Task task(int c, const std::string& name, std::int64_t index) const { return {c, segment(name), index, -1}; }

  Simulation now;
  CloserLook look;
};

}  // namespace

TEST_CASE("the step without a task's time is what is left") {
  const Looked one({100}, 5, Schedule::gpipe);
  REQUIRE(one.now.step_ns == 1000);
  CHECK(*one.look.step_if(one.task(0, "f(S[0])", 2)) == 900);
  CHECK(*one.look.step_if(one.task(0, "f(S[0])", -1)) == 500);
  CHECK(*one.look.slack(one.task(0, "f(S[0])", 2)) == 0);
  // The slow stage decides; the other ones save their time before its first and behind its last task alone.
  const Looked slow({100, 300}, 4, Schedule::gpipe);
  REQUIRE(slow.now.step_ns == 100 + 8 * 300 + 100);
  CHECK(*slow.look.step_if(slow.task(0, "f(S[0])", 0)) == slow.now.step_ns - 100);
  CHECK(*slow.look.step_if(slow.task(0, "f(S[0])", 1)) == slow.now.step_ns);
  CHECK(*slow.look.step_if(slow.task(1, "f(S[1])", -1)) == 4 * 100 + 4 * 300 + 100);
}

TEST_CASE("slack is how much later a task may begin") {
  const Looked slow({100, 300}, 4, Schedule::gpipe);
  // f1 ends at 200 and is read at 400; f3 at 400, and is read at 1,000.
  CHECK(*slow.look.slack(slow.task(0, "f(S[0])", 0)) == 0);
  CHECK(*slow.look.slack(slow.task(0, "f(S[0])", 1)) == 200);
  CHECK(*slow.look.slack(slow.task(0, "f(S[0])", 3)) == 600);
  // A delay of a task in the middle of a stage delays those behind it: f2 ends at 300, is read at 700.
  CHECK(*slow.look.slack(slow.task(0, "f(S[0])", 2)) == 400);
  CHECK(*slow.look.slack(slow.task(1, "b(S[1])", 3)) == 0);
  CHECK(*slow.look.slack(slow.task(1, "f(S[1])", 0)) == 0);  // that it waits for its message before is no slack
}

TEST_CASE("memory by kind sums to the curve, and to what is alive") {
  for (const Schedule kind : {Schedule::gpipe, Schedule::one_f_one_b}) {
    const Looked p({100, 200, 150}, 6, kind);
    const DetailedSimulation d = *p.look.window(std::nullopt);
    CHECK(d.simulation.step_ns == p.now.step_ns);
    for (int c = 0; c < 3; ++c) {
      const ClassTimeline& t = d.simulation.classes[static_cast<std::size_t>(c)];
      const std::vector<Memory>& kinds = d.kinds[static_cast<std::size_t>(c)];
      REQUIRE(kinds.size() == t.memory.size());
      for (std::size_t k = 0; k < kinds.size(); ++k) CHECK(kinds[k].bytes() == t.memory[k].bytes);
      const AliveMoment peak = *p.look.alive(c, {0, p.now.step_ns});
      CHECK(peak.memory == t.peak);
      CHECK(peak.time == t.peak_time);
      for (Nanoseconds at = 0; at <= p.now.step_ns; at += 37) {
        const AliveMoment m = *p.look.alive(c, {at, at});
        std::int64_t sum = 0, expected = 0;
        for (const AliveOwner& o : m.owners) {
          sum += o.bytes;
          CHECK(o.bytes > 0);
          CHECK((!o.from || *o.from <= at));
          CHECK((!o.to || *o.to >= at));
        }
        // The greatest of what holds at that time.
        for (std::size_t k = 0; k < t.memory.size() && t.memory[k].time <= at; ++k)
          expected = t.memory[k].time == at ? std::max(expected, t.memory[k].bytes) : t.memory[k].bytes;
        CHECK(sum == m.memory.bytes());
        INFO("class " << c << " at " << at);
        CHECK(sum == expected);
      }
    }
  }
}

TEST_CASE("within a window every operator of a step that is too long is recorded") {
  Looked p({100, 200, 150}, 6, Schedule::one_f_one_b);
  SimulationOptions sparse = p.options;
  sparse.detail_limit = 0;
  sparse.gaps = true;
  const CloserLook look(p.graph, p.program, p.cluster, sparse);
  const DetailedSimulation none = *look.window(std::nullopt), some = *look.window(Window{500, 900});
  SimulationOptions all = sparse;
  all.detail_limit = 1'000'000;
  const Simulation whole = *simulate(p.graph, p.program, p.cluster, all);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(none.simulation.classes[c].instructions.empty());
    std::vector<InstructionBlock> expected;
    for (const InstructionBlock& b : whole.classes[c].instructions)
      if (b.end >= 500 && b.start <= 900) expected.push_back(b);
    CHECK(some.simulation.classes[c].instructions == expected);
    CHECK(some.simulation.classes[c].gaps == whole.classes[c].gaps);
    const std::vector<MemoryPoint>& memory = some.simulation.classes[c].memory;
    CHECK(std::is_sorted(memory.begin(), memory.end(), [](const MemoryPoint& a, const MemoryPoint& b) { return a.time < b.time; }));
    CHECK(some.kinds[c].size() == memory.size());
    // Messages of one stream lie behind each other, those of whole slots too.
    std::map<Stream, Nanoseconds> until;
    for (const InstructionBlock& b : some.simulation.classes[c].communication) {
      CHECK(b.start >= until[b.stream]);
      until[b.stream] = b.end;
    }
  }
}
