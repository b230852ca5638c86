// Networks without dominated strategies: the same optimum, by trying all.
#include "planner/search/layout/dominance.h"

#include <catch2/catch.hpp>

#include "planner/search/layout/solve.h"
#include "tests/planner/search/layout/networks.h"

namespace planscope::layouts {
namespace {

int strategies(const CostNetwork& n) {
  int out = 0;
  for (const int k : n.nodes) out += n.kinds[static_cast<std::size_t>(k)].strategies();
  return out;
}

}  // namespace

TEST_CASE("nothing is lost without dominated strategies", "[layout]") {
  std::mt19937 random(7);
  int fewer = 0, possible = 0;
  for (int round = 0; round < 400; ++round) {
    Shaped shape;
    shape.nodes = 1 + round % 7;
    shape.strategies = 2 + round % 3;
    shape.rows = round % 2;
    shape.edges = 0.15 * (round % 5);
    shape.tightness = 0.1 * (round % 9);
    shape.alike = round % 4 != 0;
    const CostNetwork n = random_network(shape, random);
    const Locks locks = round % 3 == 0 ? random_locks(n, random) : Locks{};
    int asked = 0;  // some are ended before they are done
    const Reduced r = without_dominated(n, locks, [&] { return round % 5 == 4 && ++asked > round % 11; });
    CAPTURE(round);
    REQUIRE(faults(r.network).empty());
    fewer += strategies(r.network) < strategies(n);
    const std::optional<double> before = least_cost(n, locks), after = least_cost(r.network, {});
    REQUIRE(before.has_value() == after.has_value());
    if (!before) continue;
    ++possible;
    CHECK(*after == Approx(*before));
    const Answer a = Solver(r.network).solve({});
    if (a.outcome != Outcome::found) continue;
    const Choice c = r.original(a.choice);
    CHECK(keeps_locks(n, locks, c));
    CHECK(cost_of(n, c) == Approx(a.cost));
    CHECK(memory_of(n, c) == a.memory);
  }
  CHECK(fewer > 100);
  CHECK(possible > 200);
}

TEST_CASE("locks of strategies that are left", "[layout]") {
  // The second strategy is dearer than the first whatever the neighbour does, and needs as much.
  const CostNetwork n{.limits = {10},
                      .kinds = {{{1, 5, 2}, {{4, 4, 1}}}, {{0, 0}, {{0, 0}}}},
                      .pairs = {{3, 2, {0, 1, 0, 1, 1, 0}}},
                      .nodes = {0, 1},
                      .edges = {{0, 1, 0}}};
  const Reduced r = without_dominated(n);
  CHECK(r.left[0] == std::vector<int>{0, 2});
  REQUIRE(r.locks({{0, {2}}}));
  CHECK(*r.locks({{0, {2}}}) == Locks{{0, {1}}});
  CHECK_FALSE(r.locks({{0, {1, 2}}}));
  CHECK(without_dominated(n, {{0, {1}}}).left[0] == std::vector<int>{1});
}

}  // namespace planscope::layouts
