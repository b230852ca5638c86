#include "planner/search/layout/master.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace planscope::layouts {
namespace {

double lowest(const std::vector<MasterColumn>& columns, const std::vector<double>& prices) {
  double least = 1e300;
  for (const MasterColumn& c : columns) {
    double value = c.cost;
    for (std::size_t r = 0; r < prices.size(); ++r) value += prices[r] * c.excess[r];
    least = std::min(least, value);
  }
  return least;
}

TEST_CASE("with one price it is the crossing of two lines") {
  const MasterAnswer a = solve_master({{10, {-4}}, {2, {4}}, {8, {-1}}}, 1, 100);
  CHECK(a.prices[0] == Approx(1));
  CHECK(a.value == Approx(6));
}

TEST_CASE("prices stay below the cap where limits cannot be kept") {
  const MasterAnswer a = solve_master({{1, {2}}, {3, {1}}}, 1, 5);
  CHECK(a.prices[0] == Approx(5));
  CHECK(a.value == Approx(8));
}

// Any prices give a value that is no higher: tried on random prices, and around the answer.
TEST_CASE("no prices are better") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> real(0, 1);
  for (int round = 0; round < 200; ++round) {
    const int rows = 1 + round % 5;
    std::vector<MasterColumn> columns;
    for (int k = 0; k < 3 + round % 20; ++k) {
      columns.push_back({100 * real(random), {}});
      for (int r = 0; r < rows; ++r) columns.back().excess.push_back(1e4 * (real(random) - 0.5));
    }
    const double cap = 0.05;
    const MasterAnswer a = solve_master(columns, rows, cap);
    CAPTURE(round);
    REQUIRE(lowest(columns, a.prices) == Approx(a.value).margin(1e-7));
    for (int k = 0; k < 300; ++k) {
      std::vector<double> other;
      for (int r = 0; r < rows; ++r)
        other.push_back(k % 2 ? cap * real(random) : std::clamp(a.prices[r] + 1e-4 * (real(random) - 0.5), 0.0, cap));
      REQUIRE(lowest(columns, other) <= a.value + 1e-7);
    }
  }
}

}  // namespace
}  // namespace planscope::layouts
