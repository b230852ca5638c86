#include <catch2/catch.hpp>
#include <chrono>

#include "planner/verify/verify.h"
#include "programs.h"

using namespace planscope;

TEST_CASE("materialized plans are equivalent, or relaxed where they say so") {
  for (const tiny::NamedPlan& plan : tiny::plans()) {
    INFO(plan.name);
    const auto m = tiny::materialized(plan);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.value);
    const VerifyReport r = verify(*m.value->graph, m.value->program);
    for (const Failure& f : r.failures) UNSCOPED_INFO(to_string(f));
    CHECK(to_string(r.verdict) == plan.verdict);
    CHECK(r.staleness.empty() == (plan.verdict == "equivalent"));
    CHECK(r.obligations > 100);
  }
}

TEST_CASE("the age of every stage's parameters is told") {
  const tiny::NamedPlan plan{"stages",
                             "devices 3 as pipe=3\nlet S = cut layers.* into |pipe|\nassign S[i] to pipe=i\n"
                             "relax fetch(S[i]) lag |S|-1-i\n"};
  const auto m = tiny::materialized(plan, 3);
  REQUIRE(m.value);
  std::vector<std::string> told;
  for (const Staleness& s : verify(*m.value->graph, m.value->program).staleness) told.push_back(to_string(s));
  const std::string line = " (line 4: relax fetch(S[i]) lag |S|-1-i)";
  CHECK(told == std::vector<std::string>{
                    "embed.weight and 4 more parameters on all[pipe=0] (device 0): 2 updates old" + line,
                    "layers.1.up.weight and 3 more parameters on all[pipe=1] (device 1): 1 update old" + line,
                    "embed.weight and 4 more parameters on all[pipe=2] (device 2): the newest"});
}

TEST_CASE("a plan that relaxes nothing by any update is equivalent") {
  const auto m = tiny::materialized({"no lag", "devices 2 as data=2\ntrans * batch by data\nrelax fetch(*) lag 0\n"});
  REQUIRE(m.value);
  const VerifyReport r = verify(*m.value->graph, m.value->program);
  CHECK(to_string(r.verdict) == "equivalent");
  CHECK(r.staleness.empty());
}

TEST_CASE("a place has one version of a parameter to read") {
  const auto m =
      tiny::materialized({"a.plan", "devices 2 as data=2\ntrans * batch by data\nrelax fetch(embed) lag 1\n"});
  CHECK_FALSE(m.value);
  CHECK(to_string(m.diagnostics) ==
        "a.plan:3: relax fetch(embed) lag 1: 'embed.weight' is read 1 and 0 updates old on all; a place reads one "
        "version of a parameter that it stores; give all that read it there the same lag, or another place\n");
}

TEST_CASE("a program of another model is not looked at") {
  const auto m = tiny::materialized(tiny::plans()[1]);
  const VerifyReport r = verify(tiny::tiny_graph(3), m.value->program);
  CHECK(r.verdict == Verdict::unknown);
  CHECK(!r.failures.empty());
}
