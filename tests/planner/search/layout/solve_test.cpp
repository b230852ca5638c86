#include "planner/search/layout/solve.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/planner/search/layout/networks.h"

namespace planscope::layouts {
namespace {

constexpr double close = 1e-7;

// What must hold of any answer, whatever the method; `best` is by trying all.
void require_sound(const CostNetwork& n, const Locks& locks, const Answer& a, const std::optional<double>& best) {
  INFO(a.method);
  REQUIRE((a.outcome == Outcome::impossible ? !best.has_value() : true));
  if (a.outcome == Outcome::impossible) {
    REQUIRE_FALSE(a.certificate);
    if (!a.impossibility) return;  // all choices were looked at
    const Checked c = check(n, locks, *a.impossibility);
    INFO(c.reason);
    REQUIRE(c.ok);
    return;
  }
  REQUIRE(a.certificate);
  const Checked c = check(n, locks, *a.certificate);
  INFO(c.reason);
  REQUIRE(c.ok);
  REQUIRE(a.certificate->bound <= a.lower_bound);
  if (best) REQUIRE(a.lower_bound <= *best + close);
  if (a.outcome == Outcome::unknown) return;
  REQUIRE(best);
  REQUIRE(keeps_locks(n, locks, a.choice));
  REQUIRE(fits(n, a.memory));
  REQUIRE(a.memory == memory_of(n, a.choice));
  REQUIRE(a.cost == cost_of(n, a.choice));
  REQUIRE(a.cost >= *best - close);
  if (a.optimal) REQUIRE(a.cost <= *best + close);
  REQUIRE(a.gap() >= 0);
}

TEST_CASE("small networks with one memory row are solved to the optimum") {
  std::mt19937 random(1);
  int found = 0, impossible = 0, bound = 0;
  for (int round = 0; round < 400; ++round) {
    Shaped shape;
    shape.nodes = 1 + round % 8;
    shape.strategies = 1 + round % 4;
    shape.edges = 0.2 * (round % 6);
    shape.tightness = 0.1 * (round % 9) - 0.05;
    shape.alike = round % 2 == 0;
    const CostNetwork n = random_network(shape, random);
    const Locks locks = round % 3 ? random_locks(n, random) : Locks{};
    const std::optional<double> best = least_cost(n, locks);
    const Answer a = Solver(n).solve(locks);
    CAPTURE(round);
    require_sound(n, locks, a, best);
    REQUIRE(a.outcome == (best ? Outcome::found : Outcome::impossible));
    REQUIRE(a.optimal == best.has_value());
    found += best.has_value();
    impossible += !best;
    bound += best && a.certificate->bound < *best - 1e-6;
  }
  CHECK(found > 200);
  CHECK(impossible > 20);
  CHECK(bound > 50);  // there the prices alone do not prove it
}

TEST_CASE("several memory rows: what is said is true") {
  std::mt19937 random(2);
  int found = 0, impossible = 0, optimal = 0, unknown = 0;
  for (int round = 0; round < 300; ++round) {
    Shaped shape;
    shape.nodes = 2 + round % 6;
    shape.strategies = 2 + round % 3;
    shape.rows = round % 4;
    shape.tightness = 0.1 + 0.1 * (round % 6);
    shape.alike = round % 2 == 0;
    const CostNetwork n = random_network(shape, random);
    const std::optional<double> best = least_cost(n, {});
    const Answer a = Solver(n).solve({});
    CAPTURE(round);
    require_sound(n, {}, a, best);
    found += a.outcome == Outcome::found;
    impossible += a.outcome == Outcome::impossible;
    unknown += a.outcome == Outcome::unknown;
    optimal += a.optimal;
    if (best) CHECK(a.outcome == Outcome::found);
  }
  CHECK(found > 150);
  CHECK(optimal > 150);
  CHECK(impossible > 0);
  CHECK(unknown < 30);
}

// Costs from 1e-12 to 1e10, memory from single units to 1e10, limits near what some choice needs.
CostNetwork uneven_network(int round, std::mt19937& random) {
  std::uniform_real_distribution<double> real(0, 1);
  const auto uneven = [&](double low, double high) { return std::pow(10, low + (high - low) * real(random)); };
  const double low = round % 2 ? -12 : 0, high = round % 3 ? 10 : low + 1;
  Shaped shape;
  shape.nodes = 1 + round % 6;
  shape.strategies = 1 + round / 6 % 4;
  shape.rows = 1 + round / 24 % 3;
  shape.edges = round % 5 * 0.25;
  shape.alike = round % 2 == 0;
  CostNetwork n = random_network(shape, random);
  const auto cost = [&] {
    const double sign = round % 7 == 0 && real(random) < 0.5 ? -1 : 1;
    return real(random) < 0.3 ? 0 : sign * uneven(low, high);
  };
  for (Kind& k : n.kinds) {
    for (double& c : k.cost) c = cost();
    for (auto& row : k.memory)
      for (auto& m : row) m = real(random) < 0.3 ? 0 : static_cast<std::int64_t>(uneven(0, round % 4 ? 10 : 3));
  }
  for (Matrix& m : n.pairs)
    for (double& c : m.values) c = cost();
  Choice some;
  for (const int k : n.nodes) some.push_back(static_cast<int>(real(random) * n.kinds[k].strategies()));
  n.limits = memory_of(n, some);
  for (auto& limit : n.limits)
    limit = static_cast<std::int64_t>(static_cast<double>(limit) * (real(random) < 0.7 ? 1 + real(random) : 0.9));
  return n;
}

double size_of(const CostNetwork& n, const Choice& choice) {
  CostNetwork sizes = n;
  for (Kind& k : sizes.kinds)
    for (double& c : k.cost) c = std::abs(c);
  for (Matrix& m : sizes.pairs)
    for (double& c : m.values) c = std::abs(c);
  return cost_of(sizes, choice);
}

TEST_CASE("small networks with several memory rows are decided, whatever their scales") {
  std::mt19937 random(12);
  int found = 0, impossible = 0, looked_at = 0;
  for (int round = 0; round < 6000; ++round) {
    const CostNetwork n = uneven_network(round, random);
    const Locks locks = round % 4 ? Locks{} : random_locks(n, random);
    const std::optional<double> best = least_cost(n, locks);
    const Answer a = Solver(n).solve(locks);
    CAPTURE(round, a.method, a.cost, a.lower_bound);
    REQUIRE(a.outcome == (best ? Outcome::found : Outcome::impossible));
    looked_at += !best && !a.impossibility;
    impossible += !best;
    if (a.impossibility) REQUIRE(check(n, locks, *a.impossibility).ok);
    if (!best) continue;
    ++found;
    const double close = 1e-9 * size_of(n, a.choice), last_digits = 1e-6 * close;
    REQUIRE(a.optimal);
    REQUIRE(a.gap() == 0);
    REQUIRE(keeps_locks(n, locks, a.choice));
    REQUIRE(fits(n, memory_of(n, a.choice)));
    REQUIRE(a.cost == cost_of(n, a.choice));
    REQUIRE(a.cost <= *best + close);
    REQUIRE(a.lower_bound <= *best + last_digits);
    REQUIRE(a.lower_bound >= *best - close);
    REQUIRE(a.certificate->bound <= *best);
    REQUIRE(check(n, locks, *a.certificate).ok);
    for (const double price : a.prices) REQUIRE_FALSE(std::signbit(price));
  }
  CHECK(found > 2000);
  CHECK(impossible > 500);
  CHECK(looked_at > 20);
}

// As above, ended at any time: the bound is one, and where there is nothing, nothing is told of it.
TEST_CASE("small networks whose search is ended have a true bound") {
  std::mt19937 random(13);
  int unknown = 0, apart = 0;
  for (int round = 0; round < 3000; ++round) {
    const CostNetwork n = uneven_network(round, random);
    SolveOptions options;
    int left = round % 8;
    options.ended = [&] { return left-- <= 0; };
    options.work = round % 3 ? 4e5 : 2;
    const Answer a = Solver(n, options).solve({});
    CAPTURE(round, a.method, a.cost, a.lower_bound);
    const std::optional<double> best = least_cost(n, {});
    if (a.outcome == Outcome::impossible) {
      REQUIRE_FALSE(best);
      continue;
    }
    if (best) REQUIRE(a.lower_bound <= *best);
    unknown += a.outcome == Outcome::unknown;
    if (a.outcome == Outcome::unknown) continue;
    REQUIRE(best);
    REQUIRE(a.gap() >= 0);
    REQUIRE(a.lower_bound <= a.cost);
    if (a.optimal) REQUIRE(a.cost <= *best + 1e-9 * size_of(n, a.choice));
    apart += !a.optimal;
  }
  CHECK(unknown > 50);
  CHECK(apart > 50);
}

TEST_CASE("a row that cannot bind takes nothing from what the others leave") {
  std::mt19937 random(7);
  int bound = 0;
  for (int round = 0; round < 300; ++round) {
    Shaped shape;
    shape.nodes = 3 + round % 5;
    shape.strategies = 2 + round % 3;
    shape.rows = 2;
    shape.tightness = 0.2 + 0.1 * (round % 5);
    CostNetwork n = random_network(shape, random);
    n.limits[0] = 1'000'000;
    const std::optional<double> best = least_cost(n, {});
    const Answer a = Solver(n).solve({});
    CAPTURE(round);
    require_sound(n, {}, a, best);
    bound += best && a.certificate->bound < *best - 1e-6;
  }
  CHECK(bound > 100);  // there the prices alone do not prove it
}

TEST_CASE("where tables are too large the bound is a bound, and the answer says so") {
  std::mt19937 random(3);
  int split = 0, found = 0, least = 0;
  for (int round = 0; round < 200; ++round) {
    Shaped shape;
    shape.nodes = 4 + round % 5;
    shape.strategies = 2 + round % 2;
    shape.edges = 0.5 + 0.1 * (round % 6);
    shape.tightness = 0.2 + 0.1 * (round % 6);
    shape.rows = 1 + round % 2;
    shape.alike = round % 2 == 0;
    const CostNetwork n = random_network(shape, random);
    const Locks locks = round % 3 ? random_locks(n, random) : Locks{};
    SolveOptions options;
    options.elimination.largest_table = 9;
    options.changes = 2e5;
    const Answer a = Solver(n, options).solve(locks);
    CAPTURE(round);
    const std::optional<double> best = least_cost(n, locks);
    require_sound(n, locks, a, best);
    found += best.has_value();
    least += a.outcome == Outcome::found && a.cost <= *best + close;
    split += a.method.find("mini-buckets of 9 entries") != std::string::npos ||
             a.method.find("mini-buckets of 4 entries") != std::string::npos;
  }
  CHECK(split > 100);
  CHECK(least >= found - 4);
}

TEST_CASE("where tables are too large annealing finds what descent does not") {
  std::mt19937 random(4);
  double with = 0, without = 0;
  for (int round = 0; round < 6; ++round) {
    Shaped shape;
    shape.nodes = 40;
    shape.strategies = 6;
    shape.edges = 0.15;
    shape.tightness = 0.1 + 0.1 * round;
    shape.rows = 1 + round % 2;
    shape.alike = false;
    const CostNetwork n = random_network(shape, random);
    SolveOptions options;
    options.elimination.largest_table = 100;
    options.changes = 0;
    const Answer a = Solver(n, options).solve({});
    options.changes = 6e5;
    const Answer b = Solver(n, options).solve({});
    require_sound(n, {}, b, b.cost);
    REQUIRE(b.outcome == Outcome::found);
    if (a.outcome == Outcome::found) CHECK(b.cost <= a.cost);
    without += a.outcome == Outcome::found ? a.cost - b.lower_bound : 0;
    with += a.outcome == Outcome::found ? b.cost - b.lower_bound : 0;
  }
  CHECK(with < 0.7 * without);
}

TEST_CASE("a network without nodes costs nothing") {
  const Answer a = Solver(CostNetwork{{5}, {}, {}, {}, {}}).solve({});
  CHECK(a.outcome == Outcome::found);
  CHECK(a.choice.empty());
  CHECK(a.cost == 0);
  CHECK(a.optimal);
}

TEST_CASE("memory that does not bind costs nothing") {
  CostNetwork n = layered_network(20, 5, 1e6, 7);
  const Answer a = Solver(n).solve({});
  CHECK(a.optimal);
  CHECK(a.prices == std::vector<double>{0});
  n.limits.clear();
  for (Kind& k : n.kinds) k.memory.clear();
  const Answer b = Solver(n).solve({});
  CHECK(b.optimal);
  CHECK(a.cost == Approx(b.cost));
}

TEST_CASE("impossible memory is told with the least that is needed") {
  CostNetwork n = layered_network(10, 4, 1, 3);
  Answer a = Solver(n).solve({});
  CHECK(a.outcome == Outcome::impossible);
  REQUIRE(a.least_memory.size() == 1);
  n.limits = a.least_memory;
  a = Solver(n).solve({});
  CHECK(a.outcome == Outcome::found);
  CHECK(a.memory == n.limits);
  --n.limits[0];
  CHECK(Solver(n).solve({}).outcome == Outcome::impossible);
}

TEST_CASE("equal layers are counted once, and may choose differently") {
  const CostNetwork n = layered_network(640, 5, 600, 11);
  Solver solver(n);
  const Answer a = solver.solve({});
  REQUIRE(a.outcome == Outcome::found);
  CHECK(a.steps > 10000);
  CHECK(a.distinct_messages < 120);
  CHECK(a.gap() <= 0.001);
  CHECK(check(n, {}, *a.certificate).ok);
  bool differ = false;
  for (std::size_t i = 17; i < n.nodes.size(); ++i) differ = differ || a.choice[i] != a.choice[i - 16];
  CHECK(differ);
}

// Limits near the least memory, and others at which what the prices give is far from the best.
TEST_CASE("the gap of layered networks is narrow wherever the limit is", "[slow]") {
  std::mt19937 random(5);
  int found = 0;
  for (int round = 0; round < 120; ++round) {
    const int layers = round % 6 ? 32 : 640;
    const CostNetwork n =
        layered_network(layers, 3 + round % 4, 450 + 50 * static_cast<int>(random() % 7), 100 + round);
    SolveOptions options;
    options.work = round % 5 ? options.work : 2e4;  // so little that the first look sees nothing, often
    const Answer a = Solver(n, options).solve({});
    if (a.outcome != Outcome::found) continue;
    ++found;
    CAPTURE(round, layers, a.cost, a.lower_bound);
    CHECK(a.gap() <= std::max(options.wide, std::min(1.5 / static_cast<double>(n.nodes.size()), options.wide_of_few)));
    CHECK(check(n, {}, *a.certificate).ok);
    options.work_of_node = 0;
    CHECK(Solver(n, options).solve({}).cost >= a.cost - 1e-9 * a.cost);
  }
  CHECK(found > 90);
}

TEST_CASE("a changed lock adds few messages, and gives what a new solver gives") {
  const CostNetwork n = layered_network(256, 4, 560, 5);
  Solver solver(n);
  const Answer first = solver.solve({});
  REQUIRE(first.outcome == Outcome::found);
  const int node = 2000;
  const Locks locks = {{node, {(first.choice[node] + 1) % 4}}};
  const Answer again = solver.solve(locks), fresh = Solver(n).solve(locks);
  CHECK(again.choice[node] == locks.at(node)[0]);
  CHECK(again.distinct_messages <= first.distinct_messages + 40);
  CHECK(again.certificate->bound == Approx(fresh.certificate->bound).epsilon(1e-12));
  CHECK(again.certificate->bound >= first.certificate->bound - 1e-6);
  CHECK(again.gap() <= 0.003);
  CHECK(check(n, locks, *again.certificate).ok);
  CHECK_FALSE(check(n, {}, *again.certificate).ok);
  CHECK(solver.solve({}).certificate->bound == Approx(first.certificate->bound).epsilon(1e-12));
}

TEST_CASE("the same case gives the same answer") {
  const CostNetwork n = layered_network(100, 5, 620, 9);
  const Answer a = Solver(n).solve({}), b = Solver(n).solve({});
  CHECK(a.choice == b.choice);
  CHECK(a.lower_bound == b.lower_bound);
}

TEST_CASE("a limit ends it with what is known") {
  SolveOptions options;
  int asked = 0;
  options.ended = [&] { return ++asked > 3; };
  const CostNetwork n = layered_network(100, 5, 620, 9);
  const Answer a = Solver(n, options).solve({});
  CHECK(a.ended);
  REQUIRE(a.outcome == Outcome::found);
  CHECK(fits(n, a.memory));
  CHECK(a.lower_bound <= a.cost);
  CHECK(check(n, {}, *a.certificate).ok);
}

}  // namespace
}  // namespace planscope::layouts
