// Periods: known ones, bounds, and small random cases against trying everything.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>

#include "planner/search/schedule/coarse.h"
#include "planner/search/schedule/periodic.h"
#include "planner/search/schedule/regular.h"
#include "planner/search/schedule/retime.h"
#include "planner/search/schedule/schedule.h"
#include "tests/planner/search/schedule/shapes.h"

using namespace planscope;
using namespace planscope::schedule;
using namespace planscope::schedule::testing;

namespace {

const Deadline kLong(60);

// Whether any pattern of that period is legal: one task after the other, each within so many periods of what it waits for.
bool any_pattern(const Problem& p, std::int64_t period, std::int64_t periods) {
  Pattern s{period, std::vector<std::int64_t>(p.tasks.size(), 0)};
  const std::vector<std::int64_t> head = heads(p);
  const std::function<bool(std::size_t)> place = [&](std::size_t i) {
    if (i == p.topological.size()) return !violation(p, s);
    const auto t = static_cast<std::size_t>(p.topological[i]);
    std::int64_t first = 0;
    for (int e : p.into[t]) {
      const Edge& edge = p.edges[static_cast<std::size_t>(e)];
      first = std::max(first, s.start[static_cast<std::size_t>(edge.from)] + edge.span);
    }
    for (std::int64_t start = first; start < first + (i == 0 ? 1 : period * periods); ++start) {
      s.start[t] = start;
      if (place(i + 1)) return true;
    }
    return false;
  };
  return place(0);
}

void agrees(const Case& c, std::int64_t periods) {
  const Problem p = make_problem(c);
  const PeriodBound bound = period_bound(p);
  if (bound.period > 7) return;  // too many to try
  INFO("bound " << bound.period << " by " << bound.by);
  for (std::int64_t period = std::max<std::int64_t>(1, bound.period - 1); period < bound.period + 3; ++period) {
    const Periodic a = solve_period(p, period, kLong);
    REQUIRE(a.answer != Periodic::Answer::unknown);
    const bool found = a.answer == Periodic::Answer::found;
    if (found) CHECK(violation(p, a.pattern).value_or("") == "");
    CHECK(found == any_pattern(p, period, periods));
    if (period < bound.period) CHECK(!found);
    const std::optional<Pattern> regular = regular_pattern(p, period, 100'000, kLong);
    if (regular) CHECK(found);
    if (found) break;
  }
}

TEST_CASE("several micro-batches of a period run one after the other where memory leaves nothing else") {
  // In the order of blocks, all first forwards of the period would stand before any backward.
  const std::vector<int> all = {0, 1, 2, 3};
  Case c;
  c.devices = 4;
  c.memory.assign(4, 6);
  c.micro_batches = {3, 5};
  const std::vector<std::vector<int>> devices = {{1, 2}, {1}, all, all};
  const std::vector<std::int64_t> forward = {2, 1, 1, 0}, backward = {2, 2, 3, 1};
  for (int i = 0; i < 4; ++i)
    c.blocks.push_back(
        {"f" + std::to_string(i), devices[static_cast<std::size_t>(i)], forward[static_cast<std::size_t>(i)], 1});
  for (int i = 3; i >= 0; --i)
    c.blocks.push_back(
        {"b" + std::to_string(i), devices[static_cast<std::size_t>(i)], backward[static_cast<std::size_t>(i)], -1});
  c.blocks.push_back({"other", {1}, 7, 0, 0, 1});
  c.after = {{0, 1}, {1, 2}, {0, 3}, {3, 4}, {4, 5}, {2, 5}, {5, 6}, {6, 7}};
  const Answer a = search(c, {.seconds = 5});
  REQUIRE(a.outcome == Outcome::found);
  CHECK(a.optimal);
  CHECK(a.pattern.period == 71);
  CHECK(!violation(a.problem, a.timeline));
}

}  // namespace

TEST_CASE("the six shapes of Tessel on four devices reach the busiest device's work, or what memory allows") {
  struct Known {
    Case c;
    std::int64_t period;
  };
  // With less memory: proven by nothing else so far than the solver and the oracle of oracle_test.cpp.
  for (const Known& k : {Known{v_shape(4, 4, 6), 4},
                         {v_shape(4, 3, 6), 8},
                         {m_shape(4, 6, 6), 6},
                         {m_shape(4, 4, 6), 7},
                         {x_shape(4, 4, 6), 8},
                         {v_shape(8, 8, 6), 4},
                         {m_shape(8, 8, 6), 8}}) {
    const Answer a = search(k.c);
    CHECK(a.outcome == Outcome::found);
    CHECK(a.optimal);
    CHECK(a.pattern.period == k.period);
    CHECK(violation(a.problem, a.pattern).value_or("") == "");
  }
}

TEST_CASE("1F1B for 64 stages needs no solver") {
  const Answer a = search(v_shape(64, 64, 128));
  CHECK(a.optimal);
  CHECK(a.found_by != "solver");
  CHECK(a.pattern.period == 4);
  CHECK(a.makespan == (128 + 63) * 4);
  CHECK(a.makespan_bound == a.makespan);
}

TEST_CASE("random chains agree with trying everything") {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const Case c =
        random_case(random, {.tasks = 4 + i % 2, .devices = 1 + i % 3, .most_time = 2, .streams = i % 5 == 0});
    INFO("case " << i);
    agrees(c, 1);
  }
}

TEST_CASE("random branches that meet again agree with trying everything") {
  std::mt19937 random(8);
  for (int i = 0; i < 30; ++i) {
    INFO("case " << i);
    agrees(random_case(random, {.tasks = 5, .devices = 2, .most_time = 2, .diamonds = true}), 2);
  }
}

TEST_CASE("precedences between micro-batches agree with trying everything") {
  std::mt19937 random(9);
  for (int i = 0; i < 40; ++i) {
    INFO("case " << i);
    agrees(random_case(random, {.tasks = 4, .devices = 2, .most_time = 2, .distances = true}), 3);
  }
}

TEST_CASE("the rows of Table 4 leave 1F1B alone") {
  Case c = v_shape(3, 100, 8);  // blocks f0 f1 f2 b2 b1 b0
  for (int stage = 0; stage < 3; ++stage) {
    const int ahead = 2 - stage, f = stage, b = 5 - stage;
    c.after.push_back({f, b, 0, -ahead});     // f[m + ahead] < b[m]
    c.after.push_back({b, f, 0, ahead + 1});  // b[m] < f[m + ahead + 1]
  }
  REQUIRE(check(c).empty());
  const Answer a = search(c);
  CHECK(a.optimal);
  CHECK(a.pattern.period == 4);
  for (int d = 0; d < 3; ++d) CHECK(steady_memory(a.problem, a.pattern, d) == 3 - d);
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
}

TEST_CASE("a transfer that takes a stream is hidden where there is room, and counts where there is none") {
  Case c = v_shape(2, 8, 6);  // f0 f1 b1 b0
  c.streams = {"compute", "send"};
  const auto send = [&](int from, int to, std::int64_t time) {
    std::erase_if(c.after, [&](const Precedence& a) { return a.before == from && a.after == to; });
    c.blocks.push_back({"send", {0, 1}, time, 0, 1, 0});
    const int s = static_cast<int>(c.blocks.size()) - 1;
    c.after.push_back({from, s, 0, 0});
    c.after.push_back({s, to, 0, 0});
  };
  SECTION("room") {
    send(0, 1, 2);
    send(2, 3, 2);
    const Answer a = search(c);
    CHECK(a.pattern.period == 4);
    CHECK(a.optimal);
  }
  SECTION("none") {
    send(0, 1, 3);
    send(2, 3, 3);
    const Answer a = search(c);
    CHECK(a.pattern.period == 6);
    CHECK(a.optimal);
    CHECK(a.bound_by == "load");
  }
}

TEST_CASE("kinds of micro-batches share the devices in their proportion") {
  Case c = v_shape(2, 4, 6);
  c.micro_batches = {6, 3};
  c.blocks.push_back({"evaluate", {0}, 2, 0, 0, 1});
  const Answer a = search(c);
  CHECK(a.problem.rounds == 3);
  CHECK(a.optimal);
  CHECK(a.pattern.period == 2 * 4 + 2);  // two training micro-batches and one evaluation
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
}

TEST_CASE("times without a common unit get the order of a coarse pattern and the real bound") {
  Case c = v_shape(4, 4, 6);
  for (Block& b : c.blocks) b.time = b.time * 100'003 + static_cast<std::int64_t>(b.name.back() - '0') * 7;
  const Answer a = search(c);
  CHECK(violation(a.problem, a.pattern).value_or("") == "");
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
  CHECK(a.lower_bound == 4 * 100'003 + 2 * 3 * 7);
  CHECK(a.pattern.period < a.lower_bound * 101 / 100);
}

TEST_CASE("a limit of work ends at the same place, whatever the time") {
  Case c = v_shape(4, 3, 6);
  for (Block& b : c.blocks) b.time = b.time * 1009 + static_cast<std::int64_t>(b.name.back() - '0') * 7;
  const Answer much = search(c, {.seconds = 60, .work = 100'000}), more = search(c, {.seconds = 600, .work = 100'000});
  CHECK(much.reason == "the limit of work");
  CHECK(much.pattern == more.pattern);
  CHECK(much.lower_bound == more.lower_bound);
  CHECK(much.timeline == more.timeline);
  CHECK(much.makespan_bound == more.makespan_bound);
}

TEST_CASE("few slots give bounds and periods of the real times", "[slow]") {
  std::mt19937 random(41);
  int closed = 0, all = 0;
  for (int i = 0; i < 60; ++i) {
    Case c = random_case(random, {.tasks = 5 + i % 4,
                                  .devices = 2 + i % 2,
                                  .most_time = 9,
                                  .diamonds = i % 3 == 1,
                                  .distances = i % 3 == 2,
                                  .streams = i % 4 == 3});
    if (i % 2 == 0) add_random_rows(random, c, 1, false);
    if (!check(c).empty()) continue;
    const Answer exact = search(c, {.slots = 1000}), few = search(c, {.slots = 6});
    INFO("case " << i);
    REQUIRE(exact.outcome == few.outcome);
    if (exact.outcome == Outcome::impossible || exact.pattern.start.empty()) continue;
    REQUIRE(exact.optimal);
    CHECK(violation(few.problem, few.pattern).value_or("") == "");
    CHECK(few.lower_bound <= exact.pattern.period);
    CHECK(few.pattern.period >= exact.pattern.period);
    if (few.optimal) CHECK(few.pattern.period == exact.pattern.period);
    ++all;
    closed += few.optimal ? 1 : 0;
  }
  CHECK(all > 35);
  CHECK(closed == all);
}

TEST_CASE("times rounded down lose no pattern", "[slow]") {
  std::mt19937 random(42);
  for (int i = 0; i < 60; ++i) {
    const Case c = random_case(random, {.tasks = 5, .devices = 2, .most_time = 9, .diamonds = i % 2 == 1});
    const Problem p = make_problem(c);
    const Answer a = search(c, {.slots = 1000});
    if (a.outcome != Outcome::found) continue;
    INFO("case " << i);
    for (std::int64_t slots : {3, 5, 8, 13})
      for (std::int64_t longer : {0, 1, 4}) {
        const std::int64_t period = a.pattern.period + longer;
        CHECK(solve_period(rounded_down(p, period, slots), slots, Deadline(60)).answer == Periodic::Answer::found);
      }
    CHECK(slots_for(p, a.pattern.period, a.pattern.period) <= a.pattern.period);
  }
}

TEST_CASE("retiming with the same times gives no longer a period") {
  for (const Case& c : {v_shape(4, 4, 6), m_shape(4, 4, 6), x_shape(4, 4, 6)}) {
    const Answer a = search(c);
    const std::optional<Pattern> again = retimed(a.problem, a.problem, a.pattern);
    REQUIRE(again);
    CHECK(again->period <= a.pattern.period);
    CHECK(violation(a.problem, *again).value_or("") == "");
  }
}

TEST_CASE("what does not fit is impossible, not unknown") {
  Case c = v_shape(2, 0, 4);
  const Answer a = search(c);
  CHECK(a.outcome == Outcome::impossible);
  CHECK(a.reason == "device 0 has 0 units of memory, block 0 takes 1");
  c = v_shape(2, 2, 4);
  for (Block& b : c.blocks) b.devices = {0};  // two forward blocks of two units each on one device
  for (Block& b : c.blocks) b.memory *= 2;
  const Answer b = search(c);
  CHECK(b.outcome == Outcome::impossible);
  CHECK(b.reason ==
        "one micro-batch by itself needs more memory than the devices have, in whatever order its blocks run");
}

TEST_CASE("a limit leaves the best so far, and never says impossible") {
  const Answer a = search(m_shape(16, 17, 32), {.seconds = 1e-6});
  CHECK(a.outcome == Outcome::unknown);
  CHECK(!a.optimal);
  CHECK(a.lower_bound == 6);
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
}
