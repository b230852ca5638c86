// Messages: bounded in number, and safe to show; sums that do not wrap; work that is asked to stop.
#include <catch2/catch.hpp>
#include <thread>

#include "engine/base/diagnostic.h"
#include "engine/base/saturated.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"

using namespace planscope;

TEST_CASE("control characters of names are shown, not sent", "[messages]") {
  Diagnostic d = error("no axis '\x1b[31m'\n", "\a", "");
  d.file = "a\rb";
  CHECK(to_string(d) == "a\\x0db: no axis '\\x1b[31m'\\x0a; \\x07");
  CHECK(printable("né … \t") == "né … \t");
  CHECK(printable("\xC2\x9B") == "\\x9b");  // one character that begins an escape code
}

TEST_CASE("more messages than anybody reads are counted", "[messages]") {
  std::vector<Diagnostic> ds;
  for (int i = 0; i < 10'000; ++i) ds.push_back(error(std::to_string(i)));
  ds.push_back(warning("one"));
  Diagnostic conflict = error("two lines");
  conflict.lines = {1, 2};
  ds.push_back(conflict);
  bound_messages(ds);
  REQUIRE(ds.size() == kMostMessages + 3);
  CHECK(ds[kMostMessages].what == "one");
  CHECK(ds[kMostMessages + 1] == conflict);
  CHECK(ds.back() == error("… and 9,900 more"));
}

TEST_CASE("numbers have commas, long texts an end", "[messages]") {
  CHECK(with_commas(7) == "7");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(with_commas(-1234) == "-1,234");
  CHECK(with_commas(-123) == "-123");
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("aé", 2) == "a…");
}

TEST_CASE("sums and products stay where they cannot be told any more", "[messages]") {
  CHECK(saturated_sum(kMostCount, 1) == kMostCount);
  CHECK(saturated_sum(kLeastCount, -1) == kLeastCount);
  CHECK(saturated_sum(3, -5) == -2);
  CHECK(saturated_product({std::int64_t{1} << 32, std::int64_t{1} << 31}) == kMostCount);
  CHECK(saturated_product(std::int64_t{-3} << 40, std::int64_t{1} << 40) == kLeastCount);
  CHECK(saturated_product({6, 7}) == 42);
  CHECK(saturated(1e30) == kMostCount);
  CHECK(saturated(-1e30) == kLeastCount);
  CHECK(saturated(2.5e3) == 2500);
}

TEST_CASE("work is asked to stop by its own thread's scope", "[messages]") {
  const auto work = [] {
    for (int i = 0; i < 1000; ++i) look_at_stop();
  };
  work();  // nobody asks
  bool asked = true;
  const StopScope scope([&] { return asked; });
  CHECK_THROWS_AS(work(), Stopped);
  {
    const StopScope nobody({});
    work();
  }
  CHECK_THROWS_AS(work(), Stopped);
  std::thread([&] { work(); }).join();
  bool stopped = false;
  std::thread([&, asked_here = StopScope::asked()] {
    const StopScope own(asked_here);
    try {
      work();
    } catch (const Stopped&) {
      stopped = true;
    }
  }).join();
  CHECK(stopped);
  asked = false;
  work();
}
