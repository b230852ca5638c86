// Damaged certificates are refused; one that claims less than it could is not.
#include <catch2/catch.hpp>
#include <cmath>

#include "planner/search/layout/solve.h"
#include "tests/planner/search/layout/networks.h"

namespace planscope::layouts {
namespace {

struct Proven {
  CostNetwork network;
  Locks locks;
  Certificate certificate;
};

Proven proven(bool shares, unsigned seed) {
  std::mt19937 random(seed);
  Proven p;
  Shaped shape;
  shape.nodes = 8;
  shape.edges = 0.6;
  p.network = random_network(shape, random);
  p.locks = {{0, {1}}, {3, {0, 2}}};
  SolveOptions options;
  if (shares) options.elimination.largest_table = 9;
  p.certificate = *Solver(p.network, options).solve(p.locks).certificate;
  REQUIRE(check(p.network, p.locks, p.certificate).ok);
  return p;
}

using Damage = std::function<bool(Certificate&)>;  // false: there is nothing to damage so

std::string reason(const Proven& p, const Damage& damage) {
  Certificate c = p.certificate;
  if (!damage(c)) return "nothing";
  const Checked checked = check(p.network, p.locks, c);
  return checked.ok ? "accepted" : checked.reason;
}

TEST_CASE("a certificate that claims more than it proves is refused") {
  const Proven p = proven(false, 4);
  const double step = 1e-6;
  CHECK(reason(p, [&](Certificate& c) { return c.bound += step, true; }) ==
        "the bound is above what the messages give");
  CHECK(reason(p, [&](Certificate& c) { return c.bound -= step, true; }) == "accepted");
  CHECK(reason(p, [&](Certificate& c) { return c.bound = std::nan(""), true; }) ==
        "the bound is above what the messages give");
  for (std::size_t m = 0; m < p.certificate.messages.size(); ++m)
    for (std::size_t k = 0; k < p.certificate.messages[m].values.size(); ++k) {
      CAPTURE(m, k);
      CHECK(reason(p, [&](Certificate& c) { return c.messages[m].values[k] += step, true; }) ==
            "message " + std::to_string(m) + " is above what its recipe gives at entry " + std::to_string(k));
      CHECK(reason(p, [&](Certificate& c) { return c.messages[m].values[k] = std::nan(""), true; }) != "accepted");
    }
}

TEST_CASE("a certificate that counts something else is refused", "[slow]") {
  for (const bool shares : {false, true})
    for (unsigned seed = 1; seed < 6; ++seed) {
      const Proven p = proven(shares, seed);
      const auto refused = [&](const Damage& damage) {
        const std::string why = reason(p, damage);
        INFO(why);
        CHECK(why != "accepted");
        return why != "nothing";
      };
      int done = 0;
      for (std::size_t s = 0; s < p.certificate.steps.size(); ++s) {
        CAPTURE(shares, seed, s);
        const Step& step = p.certificate.steps[s];
        done += refused([&](Certificate& c) { return !step.edges.empty() && (c.steps[s].edges.pop_back(), true); });
        done += refused([&](Certificate& c) { return !step.messages.empty() && (c.steps[s].messages[0] = -1, true); });
        done +=
            refused([&](Certificate& c) { return step.node >= 0 && (c.steps[s].node = (step.node + 1) % 8, true); });
        done += refused([&](Certificate& c) { return !step.scope.empty() && (c.steps[s].scope[0] = 99, true); });
        done += refused([&](Certificate& c) { return step.shares > 1 && (c.steps[s].shares = 1, true); });
        done += refused([&](Certificate& c) { return c.message_of[s] = 1000, true; });
        done += refused([&](Certificate& c) { return c.message_of[s] = -1, true; });
      }
      for (std::size_t m = 0; m < p.certificate.messages.size(); ++m) {
        CAPTURE(shares, seed, m);
        const Recipe& r = p.certificate.messages[m].recipe;
        done += refused([&](Certificate& c) { return r.kind >= 0 && (c.messages[m].recipe.kind = 7, true); });
        done += refused(
            [&](Certificate& c) { return r.allowed.size() > 1 && (c.messages[m].recipe.allowed.pop_back(), true); });
        done +=
            refused([&](Certificate& c) { return !r.parts.empty() && (c.messages[m].recipe.parts.pop_back(), true); });
        done += refused(
            [&](Certificate& c) { return !r.parts.empty() && (c.messages[m].recipe.parts[0].source += 50, true); });
        done += refused([&](Certificate& c) { return c.messages[m].values.pop_back(), true; });
        done += refused(
            [&](Certificate& c) { return !c.messages[m].share.empty() && (c.messages[m].share[0] += 1, true); });
      }
      CHECK(done > 30);
      CHECK(refused([](Certificate& c) { return c.prices[0] = -1, true; }));
      CHECK(refused([](Certificate& c) { return c.prices.clear(), true; }));
      refused([](Certificate& c) {
        // Without a step that only adds, its two messages stand for themselves: nothing is lost.
        return c.steps.back().node >= 0 && (c.steps.pop_back(), c.message_of.pop_back(), true);
      });
    }
}

TEST_CASE("a certificate of another network or of other locks is refused") {
  const Proven p = proven(false, 2);
  CHECK_FALSE(check(p.network, {}, p.certificate).ok);
  CostNetwork other = p.network;
  other.kinds[0].cost[0] -= 1;
  other.kinds[1].cost[0] -= 1;
  for (double& x : other.pairs[0].values) x -= 0.5;
  CHECK_FALSE(check(other, p.locks, p.certificate).ok);
  other = p.network;
  other.limits[0] += 10;
  CHECK(check(other, p.locks, p.certificate).ok == (p.certificate.prices[0] == 0));
}

TEST_CASE("what is possible is not proven impossible") {
  CostNetwork n = layered_network(3, 4, 1, 5);
  const Answer a = Solver(n).solve({});
  REQUIRE(a.impossibility);
  CHECK(check(n, {}, *a.impossibility).ok);
  n.limits = a.least_memory;
  CHECK_FALSE(check(n, {}, *a.impossibility).ok);
  --n.limits[0];
  CHECK(check(n, {}, *a.impossibility).ok);
  CHECK_FALSE(check(n, {}, Impossibility{{-1}}).ok);
  CHECK_FALSE(check(n, {}, Impossibility{{0}}).ok);
  CHECK_FALSE(check(n, {}, Impossibility{{}}).ok);
}

}  // namespace
}  // namespace planscope::layouts
