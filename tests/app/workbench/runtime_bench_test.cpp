#include "app/workbench/runtime_bench.h"

#include <catch2/catch.hpp>

using namespace planscope;

TEST_CASE("a ratio is the median of pairs, not of sides") {
  const Ratio r = paired_ratio({2, 30, 400}, {1, 10, 100});
  CHECK(r.median == 3);
  CHECK(paired_ratio({1, 2, 3, 8}, {1, 1, 1, 1}).median == 2.5);
}

TEST_CASE("the interval leaves out what lies outside with 2.5 % on either side") {
  std::vector<double> ours, ones;
  const auto interval = [&](int n) {
    ours.clear();
    for (int i = n; i > 0; --i) ours.push_back(i);
    ones.assign(ours.size(), 1);
    return paired_ratio(ours, ones);
  };
  // Ranks of the order statistics: any table of the sign test.
  CHECK(interval(5).low == 1);
  CHECK(interval(6).low == 1);
  CHECK(interval(9).low == 2);
  CHECK(interval(9).high == 8);
  CHECK(interval(20).low == 6);
  CHECK(interval(20).high == 15);
  CHECK(interval(30).low == 10);
  CHECK(interval(30).high == 21);
  CHECK(interval(1).low == 1);
  CHECK(interval(1).high == 1);
}

TEST_CASE("a Python without torch is told before anything is measured") {
  const std::atomic<bool> stop{false};
  RuntimeBenchSpec spec;
  spec.python = "false";
  const auto r = bench_runtime(spec, {}, {}, stop);
  REQUIRE_FALSE(r.ok());
  CHECK(to_string(r.diagnostics).find("'false' cannot import torch") == 0);
}
