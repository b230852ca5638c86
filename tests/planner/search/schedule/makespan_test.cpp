// Schedules of all rounds: legal whatever they are made from, never longer by what should shorten them, never shorter than
// the bound; small ones against Z3's proof.
#include <catch2/catch.hpp>
#include <chrono>

#include "planner/search/schedule/finite.h"
#include "planner/search/schedule/improve.h"
#include "planner/search/schedule/schedule.h"
#include "tests/planner/search/schedule/shapes.h"

using namespace planscope;
using namespace planscope::schedule;
using namespace planscope::schedule::testing;

namespace {

void follow(const Case& c) {
  const Answer a = search(c);
  if (a.outcome == Outcome::impossible) return;
  REQUIRE(a.outcome == Outcome::found);
  const Problem& p = a.problem;
  const Timeline first = unrolled(p, a.pattern);
  REQUIRE(violation(p, first).value_or("") == "");
  const std::optional<Timeline> packed = pack(p, order_of(p, first));
  REQUIRE(packed);
  CHECK(violation(p, *packed).value_or("") == "");
  for (std::size_t i = 0; i < first.start.size(); ++i) CHECK(packed->start[i] <= first.start[i]);
  const Timeline squeezed = schedule::squeezed(p, *packed);
  CHECK(violation(p, squeezed).value_or("") == "");
  CHECK(makespan(p, squeezed) <= makespan(p, *packed));
  const Timeline better = improved(p, squeezed, 0, 50, Deadline(60));
  CHECK(violation(p, better).value_or("") == "");
  CHECK(makespan(p, better) <= makespan(p, squeezed));
  const std::int64_t bound = makespan_bound(p);
  CHECK(bound <= makespan(p, better));
  // The proof starts below the bound, and must not find anything there.
  const Shorter s = shorter(p, better, std::max<std::int64_t>(0, bound - 2), Deadline(60));
  CHECK(violation(p, s.timeline).value_or("") == "");
  CHECK(s.bound == makespan(p, s.timeline));
  CHECK(bound <= s.bound);
  // With little work lengths are passed over; what is said of the others still holds.
  for (const std::int64_t work : {10'000, 60'000, 300'000}) {
    const Shorter hurried = shorter(p, squeezed, bound, Deadline(60).within_work(work));
    CHECK(violation(p, hurried.timeline).value_or("") == "");
    CHECK(makespan(p, hurried.timeline) <= makespan(p, squeezed));
    CHECK(hurried.bound <= s.bound);
    CHECK(s.bound <= makespan(p, hurried.timeline));
  }
}

}  // namespace

TEST_CASE("random schedules", "[slow]") {
  std::mt19937 random(11);
  for (int i = 0; i < 80; ++i) {
    INFO("case " << i);
    follow(random_case(random, {.tasks = 4 + i % 3,
                                .devices = 1 + i % 3,
                                .most_time = 3,
                                .diamonds = i % 4 == 1,
                                .distances = i % 4 == 2,
                                .streams = i % 4 == 3}));
  }
}

TEST_CASE("pipelines") {
  follow(v_shape(2, 2, 4));
  follow(v_shape(3, 2, 4));
  follow(m_shape(2, 2, 3));
  follow(x_shape(2, 2, 3));
}

TEST_CASE("reversing twice gives the problem back") {
  std::mt19937 random(12);
  for (int i = 0; i < 20; ++i) {
    const Problem p =
        make_problem(random_case(random, {.tasks = 6, .devices = 3, .diamonds = true, .distances = true}));
    const Problem back = reversed(reversed(p));
    CHECK(back.edges == p.edges);
    CHECK(back.tasks == p.tasks);
    CHECK(heads(back) == heads(p));
  }
}

TEST_CASE("idle times say what is waited for, and cover all of it") {
  const Answer a = search(v_shape(3, 3, 6));
  std::int64_t idle = 0, work = 0;
  for (const Idle& i : idle_times(a.problem, a.timeline)) {
    idle += i.to - i.from;
    CHECK(i.cause != Idle::Cause::order);
    if (i.cause == Idle::Cause::data) {
      REQUIRE(i.task >= 0);
      const auto giver = static_cast<std::size_t>(i.task * a.problem.rounds + i.round);
      CHECK(a.timeline.start[giver] + a.problem.tasks[static_cast<std::size_t>(i.task)].time == i.to);
    }
  }
  for (const Task& t : a.problem.tasks) work += t.time * a.problem.rounds;
  CHECK(idle + work == 3 * a.makespan);
}

// What is said to wait for memory could not begin a moment earlier: the device holds too much until then.
TEST_CASE("idle times for want of memory are for want of memory", "[slow]") {
  std::mt19937 random(12);
  int memory = 0, device = 0;
  for (int i = 0; i < 200; ++i) {
    const Case c =
        random_case(random, {.tasks = 5 + i % 4, .devices = 2 + i % 2, .most_time = 3, .diamonds = i % 2 == 1});
    const Answer a = search(c);
    if (a.outcome != Outcome::found) continue;
    INFO("case " << i);
    const Problem& p = a.problem;
    const auto rounds = static_cast<std::size_t>(p.rounds);
    for (const Idle& idle : idle_times(p, a.timeline)) {
      if (idle.cause == Idle::Cause::device) ++device;
      if (idle.cause != Idle::Cause::memory) continue;
      ++memory;
      bool short_of_it = false;
      for (std::size_t next = 0; next < a.timeline.start.size() && !short_of_it; ++next) {
        const Task& task = p.tasks[next / rounds];
        const auto& on = task.resources;
        if (a.timeline.start[next] != idle.to || std::find(on.begin(), on.end(), idle.resource) == on.end()) continue;
        for (int d : task.devices) {
          std::int64_t held = task.memory;
          for (std::size_t k = 0; k < a.timeline.start.size(); ++k) {
            const Task& other = p.tasks[k / rounds];
            const std::int64_t moment = a.timeline.start[k] + (other.memory < 0 ? other.time : 0);
            const bool here = std::find(other.devices.begin(), other.devices.end(), d) != other.devices.end();
            if (here && moment < idle.to) held += other.memory;
          }
          const auto& most = p.memory[static_cast<std::size_t>(d)];
          short_of_it = short_of_it || (most && held > *most);
        }
      }
      CHECK(short_of_it);
    }
  }
  CHECK(memory > 20);
  CHECK(device > 20);
}

namespace {

// A millisecond passes whenever somebody looks.
class LookedAt final : public Clock {
 public:
  std::int64_t wall_us() const override { return steady_us(); }
  std::int64_t steady_us() const override { return 100'000 * ++looks; }
  mutable std::int64_t looks = 0;
};

}  // namespace

TEST_CASE("a limit holds for many micro-batches on many devices") {
  const Case c = m_shape(64, 200, 1000);
  const LookedAt clock;
  Settings settings{.seconds = 20};
  settings.clock = &clock;
  const Answer a = search(c, settings);
  REQUIRE_FALSE(a.timeline.start.empty());
  const std::vector<Idle> idle = idle_times(a.problem, a.timeline);
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
  CHECK(a.makespan >= a.makespan_bound);
  CHECK(!idle.empty());
  CHECK(clock.looks < 2000);  // 200 of them are the limit
}
