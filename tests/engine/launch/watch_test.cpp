#include <catch2/catch.hpp>

#include "engine/launch/watch.h"

using namespace planscope;

namespace {

constexpr Microseconds at(double seconds) { return {seconds * 1e6}; }

Position working(std::int64_t i, std::uint64_t changes) { return {i, false, "linear", {}, changes}; }
Position waiting(std::int64_t i, std::uint64_t changes, Microseconds expected = {}) {
  return {i, true, "recv", expected, changes};
}

// Ticks every 100 ms with the same beats of all ranks; the first moment with a verdict, or `until`.
double first_verdict(Watch& w, double from, double until, const std::vector<Position>& beats) {
  for (double t = from; t < until; t += 0.1) {
    for (std::size_t r = 0; r < beats.size(); ++r) w.beat(static_cast<int>(r), beats[r], at(t));
    if (w.verdict(at(t))) return t;
  }
  return until;
}

}  // namespace

TEST_CASE("nothing is wrong with ranks that beat and compute", "[watch]") {
  Watch w(2, {}, at(0));
  CHECK(first_verdict(w, 0, 60, {working(1, 1), working(1, 1)}) == 60);
  CHECK(first_verdict(w, 60, 120, {working(1, 1), waiting(2, 5)}) == 120);
}

TEST_CASE("all waiting is a deadlock after three seconds, and waits that may be long are longer", "[watch]") {
  Watch w(2, {}, at(0));
  CHECK(first_verdict(w, 0, 60, {waiting(1, 1), waiting(2, 1)}) == Approx(3.0).margin(0.15));
  CHECK(w.verdict(at(9))->rank == 0);
  Watch patient(2, {}, at(0));
  CHECK(first_verdict(patient, 0, 60, {waiting(1, 1), waiting(2, 1, at(4))}) == Approx(7.0).margin(0.2));
}

TEST_CASE("waiting that moves on is no deadlock", "[watch]") {
  Watch w(2, {}, at(0));
  for (int i = 0; i < 100; ++i) {
    const double t = 0.1 * i;
    w.beat(0, waiting(1, 1), at(t));
    w.beat(1, waiting(2, static_cast<std::uint64_t>(i / 20)), at(t));  // moves every two seconds
    CHECK_FALSE(w.verdict(at(t)).has_value());
  }
}

TEST_CASE("ranks that are done do not keep a deadlock from being seen", "[watch]") {
  Watch w(3, {}, at(0));
  w.beat(0, working(9, 9), at(0));
  w.done(0, at(0));
  w.exited(0, "exited with status 0", at(0.1));
  double t = 0.1;
  for (; t < 20 && !w.verdict(at(t)); t += 0.1) {
    w.beat(1, waiting(3, 1), at(t));
    w.beat(2, waiting(4, 1), at(t));
  }
  CHECK(t < 4);
  CHECK(w.verdict(at(t))->rank == 1);
  CHECK(w.verdict(at(t))->instruction == 3);
}

TEST_CASE("a rank that has just finished gives those that waited for it their time", "[watch]") {
  Watch w(2, {}, at(0));
  CHECK(first_verdict(w, 0, 10, {waiting(1, 1), working(1, 1)}) == 10);  // a slow operator, then the last message
  w.done(1, at(10));
  w.beat(0, waiting(1, 1), at(10));
  CHECK_FALSE(w.verdict(at(10.1)).has_value());
  w.beat(0, working(2, 2), at(10.2));
  CHECK_FALSE(w.verdict(at(10.2)).has_value());
}

TEST_CASE("the watch itself being suspended is forgiven", "[watch]") {
  Watch w(1, {}, at(0));
  w.beat(0, working(1, 1), at(0));
  CHECK_FALSE(w.verdict(at(0.1)).has_value());
  CHECK_FALSE(w.verdict(at(100)).has_value());  // the laptop was closed
  for (double t = 100.1; t < 102.5; t += 0.1) CHECK_FALSE(w.verdict(at(t)).has_value());
  double t = 102.5;
  while (t < 110 && !w.verdict(at(t))) t += 0.1;
  CHECK(t == Approx(103.0).margin(0.3));
}

TEST_CASE("a death outweighs the lost connections that it causes", "[watch]") {
  Watch w(3, {}, at(0));
  w.reported(0, {4, "connection to rank 2 lost", FailureOrigin::peer}, at(1.0));
  w.exited(0, "exited with status 1", at(1.05));
  w.exited(2, "killed by signal 11 (Segmentation fault)", at(1.1));
  CHECK_FALSE(w.verdict(at(1.2)).has_value());
  CHECK(w.verdict(at(1.3)) == LaunchFailure{2, -1, "killed by signal 11 (Segmentation fault)"});
  w.exited(1, "killed by signal 9 (Killed)", at(1.4));
  CHECK(w.verdict(at(2))->rank == 2);  // a verdict stays
}

TEST_CASE("lost connections alone wait longer for their cause", "[watch]") {
  Watch w(2, {}, at(0));
  w.reported(0, {4, "connection to rank 1 lost", FailureOrigin::peer}, at(1.0));
  CHECK_FALSE(w.verdict(at(2.0)).has_value());
  w.reported(1, {5, "shapes differ", FailureOrigin::own}, at(2.1));
  CHECK(w.verdict(at(2.2)) == LaunchFailure{1, 5, "shapes differ"});
  Watch alone(2, {}, at(0));
  alone.reported(0, {4, "connection to rank 1 lost", FailureOrigin::peer}, at(1.0));
  CHECK(alone.verdict(at(2.6)) == LaunchFailure{0, 4, "connection to rank 1 lost"});
}

TEST_CASE("where a rank was when it ended counts more than its last beat", "[watch]") {
  Watch w(2, {}, at(0));
  w.beat(1, working(3, 3), at(0.1));
  w.located(1, waiting(8, 11), at(0.2));
  w.beat(1, working(4, 4), at(0.2));  // older than the board
  w.exited(1, "killed by signal 9 (Killed)", at(0.2));
  CHECK(w.verdict(at(0.6)) == LaunchFailure{1, 8, "killed by signal 9 (Killed) in recv"});
}

TEST_CASE("the verdict does not wait when nobody is left", "[watch]") {
  Watch w(1, {}, at(0));
  w.exited(0, "exited with status 1", at(1));
  CHECK(w.verdict(at(1)).has_value());
  CHECK(w.all_exited());
  CHECK_FALSE(w.all_done());
}

TEST_CASE("a rank that is seen at work is given longer before it is silent", "[watch]") {
  Watch w(1, {}, at(0));
  w.beat(0, working(1, 1), at(0));
  double t = 0;
  for (; t < 60 && !w.verdict(at(t)); t += 0.1) {
    if (w.is_overdue(0, at(t)) && t < 10) w.at_work(0, at(t));
  }
  CHECK(t == Approx(13.0).margin(0.2));  // then it sleeps
  CHECK(w.verdict(at(t))->reason == "no sign of life for 3 s, last seen in linear");
}

TEST_CASE("a rank that works for ever without a heartbeat is silent in the end", "[watch]") {
  Watch w(1, {}, at(0));
  w.beat(0, working(1, 1), at(0));
  double t = 0;
  for (; t < 60 && !w.verdict(at(t)); t += 0.1) w.at_work(0, at(t));
  CHECK(t == Approx(30.0).margin(0.2));
}

TEST_CASE("a rank that hangs before its first heartbeat is silent, however the others wait for it", "[watch]") {
  Watch w(3, {}, at(0));
  double t = 0;
  for (; t < 60 && !w.verdict(at(t)); t += 0.1) {
    w.beat(0, waiting(-1, 1), at(t));
    w.beat(2, waiting(-1, 1), at(t));
  }
  CHECK(t == Approx(3.0).margin(0.2));
  CHECK(w.verdict(at(t)) == LaunchFailure{1, -1, "no sign of life for 3 s, before it told where it is"});
}

TEST_CASE("a rank that is slow to start is waited for while it works", "[watch]") {
  Watch w(2, {}, at(0));
  double t = 0;
  for (; t < 90 && !w.verdict(at(t)); t += 0.1) {
    w.beat(0, waiting(-1, 1), at(t));
    if (w.is_overdue(1, at(t))) w.at_work(1, at(t));
  }
  CHECK(t == Approx(60.0).margin(0.2));
  CHECK(w.verdict(at(t)) == LaunchFailure{1, -1, "did not start within 60 s, before it told where it is"});
}

TEST_CASE("the rank that hangs is named, not the one that has waited longest", "[watch]") {
  Watch w(2, {}, at(0));
  double t = 0;
  for (; t < 60 && !w.verdict(at(t)); t += 0.1) {
    w.beat(0, waiting(4, 1), at(t));
    if (t < 0.25) w.beat(1, waiting(5, 1), at(t));  // stopped while it waited for what has come since
  }
  CHECK(w.verdict(at(t)) == LaunchFailure{1, 5, "no sign of life for 3 s, last seen in recv"});
}

TEST_CASE("a rank is named with its instruction, if it has begun with one", "[watch]") {
  CHECK(rank_text(2, 17) == "rank 2 at instruction 17");
  CHECK(rank_text(2, -1) == "rank 2");
  CHECK(rank_text(-1, -1).empty());
}
