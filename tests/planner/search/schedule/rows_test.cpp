// Rows beside what is open: kept by all that is found, counted by the bounds, named where they cannot be kept. Small cases
// against trying everything.
#include <catch2/catch.hpp>

#include <functional>
#include <map>

#include "planner/search/schedule/finite.h"
#include "planner/search/schedule/periodic.h"
#include "planner/search/schedule/regular.h"
#include "planner/search/schedule/rows.h"
#include "planner/search/schedule/schedule.h"
#include "tests/planner/search/schedule/shapes.h"

using namespace planscope;
using namespace planscope::schedule;
using namespace planscope::schedule::testing;

namespace {

void add_row(Case& c, Relation r) {
  r.row = static_cast<int>(c.rows.size());
  c.rows.push_back("row " + std::to_string(r.row));
  c.order.push_back(r);
}

// Whether any pattern of that period is legal: every start within so many periods, one task after the other.
bool any_pattern(const Case& c, const Problem& p, std::int64_t period, std::int64_t periods) {
  Pattern s{period, std::vector<std::int64_t>(p.tasks.size(), 0)};
  const std::function<bool(std::size_t)> place = [&](std::size_t t) {
    if (t == p.tasks.size()) return !violation(p, s) && !broken_row_of_pattern(c, period, s.start);
    for (std::int64_t start = 0; start < period * periods; ++start) {
      s.start[t] = start;
      bool possible = true;
      for (const Edge& e : p.edges) {
        const auto from = static_cast<std::size_t>(e.from), to = static_cast<std::size_t>(e.to);
        if (from <= t && to <= t && s.start[to] + period * e.distance < s.start[from] + e.span) possible = false;
      }
      if (possible && place(t + 1)) return true;
    }
    return false;
  };
  return place(0);
}

// The least makespan, by trying every start of every run; nothing up to `most`.
std::optional<std::int64_t> least_makespan(const Case& c, const Problem& p, std::int64_t most) {
  for (std::int64_t length = 1; length <= most; ++length) {
    Timeline t{std::vector<std::int64_t>(p.tasks.size() * static_cast<std::size_t>(p.rounds), 0)};
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> before(t.start.size()), after(t.start.size());
    for_each_wait(p, [&](int a, int b, std::int64_t span, int) {
      if (a < b) before[static_cast<std::size_t>(b)].emplace_back(a, span);
      if (b < a) after[static_cast<std::size_t>(a)].emplace_back(b, span);
    });
    const std::function<bool(std::size_t)> place = [&](std::size_t i) {
      if (i == t.start.size()) return !violation(p, t) && !broken_row(c, p, t.start);
      const Task& task = p.tasks[i / static_cast<std::size_t>(p.rounds)];
      for (std::int64_t start = 0; start + task.time <= length; ++start) {
        bool possible = true;
        for (const auto& [a, span] : before[i]) possible = possible && t.start[a] + span <= start;
        for (const auto& [b, span] : after[i]) possible = possible && start + span <= t.start[b];
        for (std::size_t j = 0; possible && j < i; ++j) {
          const Task& other = p.tasks[j / static_cast<std::size_t>(p.rounds)];
          const bool shared = std::any_of(task.resources.begin(), task.resources.end(), [&](int r) {
            return std::find(other.resources.begin(), other.resources.end(), r) != other.resources.end();
          });
          possible = !shared || start >= t.start[j] + other.time || t.start[j] >= start + task.time;
        }
        t.start[i] = start;
        if (possible && place(i + 1)) return true;
      }
      return false;
    };
    if (place(0)) return length;
  }
  return std::nullopt;
}

void keeps(const Case& c, const Answer& a) {
  if (a.outcome == Outcome::impossible) return;
  if (!a.pattern.start.empty() && a.problem.tasks.size() == c.blocks.size())
    CHECK(broken_row_of_pattern(c, a.pattern.period, a.pattern.start).value_or("") == "");
  if (a.timeline.start.empty()) return;
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
  CHECK(broken_row(c, a.problem, a.timeline.start).value_or("") == "");
}

}  // namespace

TEST_CASE("periods with rows agree with trying everything") {
  std::mt19937 random(31);
  int compared = 0, none = 0;
  for (int i = 0; i < 120; ++i) {
    Case c = random_case(random, {.tasks = 4, .devices = 1 + i % 2, .most_time = 2, .diamonds = false});
    add_random_rows(random, c, 1 + i % 3, false);
    if (!check(c).empty()) continue;
    const Problem p = make_problem(c);
    const PeriodBound bound = period_bound(p);
    if (bound.period > 6) continue;
    INFO("case " << i);
    const std::int64_t last = std::min<std::int64_t>(bound.period + 3, 8);
    for (std::int64_t period = std::max<std::int64_t>(1, bound.period - 1); period < last; ++period) {
      const Periodic a = solve_period(p, period, Deadline(60));
      REQUIRE(a.answer != Periodic::Answer::unknown);
      const bool found = a.answer == Periodic::Answer::found;
      ++compared;
      none += found ? 0 : 1;
      CHECK(found == any_pattern(c, p, period, 4));
      if (period < bound.period) CHECK(!found);
      if (found) CHECK(broken_row_of_pattern(c, period, a.pattern.start).value_or("") == "");
      if (const std::optional<Pattern> regular = regular_pattern(p, period, 100'000, Deadline(60))) {
        CHECK(found);
        CHECK(broken_row_of_pattern(c, period, regular->start).value_or("") == "");
      }
      if (found) break;
    }
  }
  CHECK(compared > 60);
  CHECK(none > 20);
}

TEST_CASE("schedules with rows agree with trying everything") {
  std::mt19937 random(32);
  int compared = 0, with_pairs = 0;
  for (int i = 0; i < 200; ++i) {
    Case c = random_case(random, {.tasks = 3, .devices = 1 + i % 2, .most_time = 2});
    for (Precedence& a : c.after) a.delay = 0;
    add_random_rows(random, c, 1 + i % 2, true);
    if (!check(c).empty()) continue;
    const Answer a = search(c, {.seconds = 20, .prove_makespan = true});
    keeps(c, a);
    INFO("case " << i);
    const std::optional<std::int64_t> least = least_makespan(c, a.problem, 12);
    if (a.outcome == Outcome::impossible) {
      CHECK((!least || a.reason.starts_with("nothing that repeats")));
      continue;
    }
    if (!least) continue;  // longer than what is tried
    ++compared;
    with_pairs += a.problem.pairs.empty() ? 0 : 1;
    CHECK(a.makespan_bound <= *least);
    CHECK(a.makespan >= *least);
    // The bound counts all schedules, whichever micro-batch comes first.
    if (a.makespan == a.makespan_bound) CHECK(a.makespan == *least);
    CHECK(a.makespan == a.makespan_bound);
  }
  CHECK(compared > 60);
  CHECK(with_pairs > 20);
}

TEST_CASE("all that is found keeps rows", "[slow]") {
  std::mt19937 random(33);
  int found = 0;
  for (int i = 0; i < 150; ++i) {
    Case c = random_case(random, {.tasks = 5 + i % 5,
                                  .devices = 2 + i % 3,
                                  .most_time = 3,
                                  .diamonds = i % 3 == 1,
                                  .distances = i % 5 == 4,
                                  .streams = i % 4 == 3});
    c.micro_batches = {4 + i % 3};
    add_random_rows(random, c, 1 + i % 4, i % 2 == 0);
    if (!check(c).empty()) continue;
    const Answer a = search(c, {.seconds = 20});
    INFO("case " << i << ": " << a.reason);
    keeps(c, a);
    CHECK((a.outcome != Outcome::unknown || a.reason.starts_with("no schedule of all micro-batches was found")));
    found += a.outcome == Outcome::found ? 1 : 0;
    if (a.outcome == Outcome::found) CHECK(a.makespan >= a.makespan_bound);
  }
  CHECK(found > 45);
}

// Rows about single micro-batches tell them apart, so that nothing else keeps the runs of a block apart that has a stream of
// a device to itself.
TEST_CASE("a block with a stream to itself runs once at a time, whatever rows say", "[slow]") {
  const Result<Case> c = from_json(R"({"devices": 1, "micro_batches": 2,
      "blocks": [{"name": "send", "devices": [0], "time": 4, "stream": "link"}, {"name": "work", "devices": [0], "time": 1}],
      "after": [[0, 1, 1]], "order": [[0, 1, 0, 1, 1]]})",
                                   "case.json");
  REQUIRE(c.ok());
  const Answer one = search(*c);
  keeps(*c, one);
  CHECK(one.makespan == 10);
  CHECK(one.makespan_bound == 10);
  std::mt19937 random(34);
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    Case some = random_case(random, {.tasks = 3 + i % 2, .devices = 3, .most_time = 4, .streams = true});
    some.micro_batches = {2 + i % 2};
    add_random_rows(random, some, 1, true);
    if (!check(some).empty()) continue;
    INFO("case " << i);
    const Answer a = search(some, {.seconds = 20, .prove_makespan = true});
    keeps(some, a);
    found += a.problem.pairs.empty() || a.timeline.start.empty() ? 0 : 1;
  }
  CHECK(found > 15);
}

TEST_CASE("Table 4 as rows is 1F1B") {
  Case c = v_shape(4, 100, 8);  // blocks f0 … f3 b3 … b0
  for (int stage = 0; stage < 4; ++stage) {
    const int ahead = 3 - stage, f = stage, b = 7 - stage;
    add_row(c, {f, b, -ahead});
    add_row(c, {b, f, ahead + 1});
  }
  REQUIRE(check(c).empty());
  const Answer a = search(c);
  keeps(c, a);
  CHECK(a.optimal);
  CHECK(a.pattern.period == 4);
  for (int d = 0; d < 4; ++d) CHECK(steady_memory(a.problem, a.pattern, d) == 4 - d);
}

TEST_CASE("rows of all micro-batches make GPipe") {
  Case c = v_shape(2, 100, 4);
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 4; ++n) add_row(c, {0, 3, n - m, m, 1});
  REQUIRE(check(c).empty());
  const Answer a = search(c);
  keeps(c, a);
  CHECK(a.outcome == Outcome::found);
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 4; ++n) CHECK(a.timeline.start[12 + n] >= a.timeline.start[m] + 1);
}

TEST_CASE("a row that costs time counts in the bound") {
  Case c = v_shape(2, 100, 8);  // f0 f1 b1 b0
  add_row(c, {3, 0, 1});        // one micro-batch after the other
  REQUIRE(check(c).empty());
  const Answer a = search(c);
  keeps(c, a);
  CHECK(a.pattern.period == 8);
  CHECK(a.lower_bound == 8);
  CHECK(a.bound_by == "recurrence");
  CHECK(a.makespan == 64);
  CHECK(a.makespan_bound <= 64);
}

TEST_CASE("rows that contradict each other are named") {
  Case c = v_shape(2, 100, 4);
  add_row(c, {0, 3, -2});
  add_row(c, {3, 0, 1});
  add_row(c, {0, 3, 0});
  CHECK(to_string(check(c)) ==
        "the rows cannot all be kept: f0[2] before b0[0] (row 0), b0[0] before f0[1] (row 1), b0[1] before f0[2] (row "
        "1), data f0[1] → f1[1], f1[1] → b1[1], b1[1] → b0[1]; relax row 0 or row 1\n");
  c.order.clear();
  c.rows.clear();
  add_row(c, {3, 0, 2, 1, 1});  // b0[1] before f0[3]
  add_row(c, {0, 3, -3});       // f0[3] before b0[0]
  add_row(c, {3, 3, 1, 0, 1});  // b0[0] before b0[1]
  CHECK(to_string(check(c)) ==
        "the rows cannot all be kept: b0[1] before f0[3] (row 0), f0[3] before b0[0] (row 1), b0[0] before b0[1] (row "
        "2); relax row 0 or row 1 or row 2\n");
}

TEST_CASE("rows that only the last micro-batch could end are named") {
  Case c = v_shape(2, 100, 4);
  add_row(c, {0, 0, -1});  // the later one first
  CHECK(to_string(check(c)) == "nothing can repeat in this order: f0[m] before f0[m-1] (row 0); relax row 0\n");
}

TEST_CASE("rows that memory cannot keep are named") {
  Case c = v_shape(2, 2, 8);
  add_row(c, {0, 3, -1});  // two under way: that fits
  add_row(c, {0, 3, -2});  // three
  REQUIRE(check(c).empty());
  const Answer a = search(c);
  CHECK(a.outcome == Outcome::found);  // these eight, the last one first
  CHECK(a.pattern.start.empty());
  CHECK(a.reason == "nothing that repeats keeps row 1 within the devices' memory");
  CHECK(violation(a.problem, a.timeline).value_or("") == "");
  CHECK(a.makespan_bound <= a.makespan);
  c.order.pop_back();
  c.rows.pop_back();
  add_row(c, {0, 3, -2, 2, 1});                // f0[2] before b0[0]
  CHECK(search(c).outcome == Outcome::found);  // b0[1] first
  add_row(c, {3, 3, 1, 0, 2});                 // b0[0] before b0[1] before b0[2]
  REQUIRE(check(c).empty());
  const Answer b = search(c);
  CHECK(b.outcome == Outcome::impossible);
  CHECK(b.reason == "no schedule keeps row 0, row 1, row 2 within the devices' memory");
}

TEST_CASE("a limit with rows is no answer about them") {
  Case c = v_shape(4, 2, 8);
  add_row(c, {0, 7, -3});
  const Answer a = search(c, {.seconds = 1e-9});
  CHECK(a.outcome == Outcome::unknown);
  CHECK(a.reason == "the time limit");
}
