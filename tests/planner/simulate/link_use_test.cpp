// Messages of several streams over the same links.
#include "planner/simulate/link_use.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace planscope;

namespace {

// Keeps ends by handle, with what later messages add to them.
struct Ends {
  LinkUse links;
  std::map<int, Nanoseconds> of;

  void enter(Stream stream, int level, Nanoseconds issued, Nanoseconds work, int handle) {
    const Nanoseconds start = std::max(issued, links.free(stream));
    of[handle] = links.enter({stream, level, start, start + work, handle},
                             [&](const Message& m, Nanoseconds by) { of[m.handle] += by; });
  }
};

}  // namespace

TEST_CASE("two messages over the same link go at half speed while both are under way") {
  Ends e;
  e.enter(Stream::network, 1, 0, 100, 0);
  e.enter(Stream::transfer, 1, 40, 40, 1);
  CHECK(e.of[1] == 120);  // 40 at half speed
  CHECK(e.of[0] == 140);
}

TEST_CASE("messages over links of different levels do not slow each other") {
  Ends e;
  e.enter(Stream::collective, 0, 0, 100, 0);
  e.enter(Stream::transfer, 1, 40, 40, 1);
  CHECK(e.of[1] == 80);
  CHECK(e.of[0] == 100);
}

TEST_CASE("what is queued on a stream shares too") {
  Ends e;
  e.enter(Stream::network, 1, 0, 100, 0);
  e.enter(Stream::network, 1, 0, 50, 1);
  e.enter(Stream::transfer, 1, 50, 100, 2);
  CHECK(e.of[0] == 150);  // 50 left, at half speed
  CHECK(e.of[1] == 250);
  CHECK(e.of[2] == 250);
}

TEST_CASE("messages of two streams are over when processor sharing, played out, says so") {
  std::mt19937 random(1);
  struct Job {
    int stream;
    Nanoseconds issued, left;  // in half nanoseconds of work
    Nanoseconds end = 0;
  };
  for (int round = 0; round < 300; ++round) {
    Ends e;
    std::vector<Job> jobs;
    Nanoseconds now = 0;
    for (int k = 0; k < 8; ++k) {
      now += 2 * static_cast<Nanoseconds>(random() % 20);
      const int stream = static_cast<int>(random() % 2);
      const Nanoseconds work = 2 * static_cast<Nanoseconds>(1 + random() % 30);
      jobs.push_back({stream, now, 2 * work});
      e.links.forget_until(now);
      e.enter(stream == 0 ? Stream::network : Stream::transfer, 1, now, work, k);
    }
    for (Nanoseconds t = 0; t < 10'000; ++t) {
      Job* heads[2] = {};
      for (Job& j : jobs)
        if (!heads[j.stream] && j.left > 0 && j.issued <= t) heads[j.stream] = &j;
      for (Job* j : heads) {
        if (!j) continue;
        j->left -= heads[0] && heads[1] ? 1 : 2;
        if (j->left == 0) j->end = t + 1;
      }
    }
    for (std::size_t k = 0; k < jobs.size(); ++k) REQUIRE(e.of[static_cast<int>(k)] == jobs[k].end);
  }
}
