#include "planner/constraint/tracked_solver.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <random>
#include <thread>

using namespace planscope;
using namespace planscope::constraint;

TEST_CASE("facts hold under their lines, and a contradiction names those that it needs") {
  TrackedSolver s;
  const z3::expr t = s.integer("t");
  s.add({6}, t <= 2);
  s.add({7}, t != 1 && t != 2);
  s.add({}, t >= 1);
  const Deadline deadline(10);
  CHECK(s.check(deadline) == Answer::no);
  CHECK(s.core() == std::vector<int>{6, 7});
  CHECK(s.check(deadline, [](int line) { return line != 7; }) == Answer::yes);
  CHECK((s.value(t) == 1 || s.value(t) == 2));
}

TEST_CASE("a stop that comes as a check ends leaves no yes without values") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    TrackedSolver s;
    const z3::expr t = s.integer("t");
    s.add({}, t >= 1 && t <= 1000000);
    std::atomic<bool> stop = false;
    const Deadline deadline(10, &stop);
    std::jthread stopper([&, wait = std::chrono::microseconds(random() % 2000)] {
      std::this_thread::sleep_for(wait);
      stop = true;
    });
    Answer answer = Answer::yes;
    for (int n = 0; answer == Answer::yes; ++n) {
      answer = s.check(deadline);
      if (answer == Answer::yes) s.add({}, t != s.context().int_val(s.value(t)));
    }
    CHECK(answer == Answer::unknown);
  }
}
