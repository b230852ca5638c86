#include <catch2/catch.hpp>
#include <chrono>

#include "planner/verify/verify.h"
#include "programs.h"

using namespace planscope;

TEST_CASE("materialized plans are equivalent") {
  for (const tiny::NamedPlan& plan : tiny::plans()) {
    INFO(plan.name);
    const auto m = tiny::materialized(plan);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.value);
    const VerifyReport r = verify(*m.value->graph, m.value->program);
    for (const Failure& f : r.failures) UNSCOPED_INFO(to_string(f));
    CHECK(to_string(r.verdict) == "equivalent");
    CHECK(r.obligations > 100);
  }
}

TEST_CASE("a program of another model is not looked at") {
  const auto m = tiny::materialized(tiny::plans()[1]);
  const VerifyReport r = verify(tiny::tiny_graph(3), m.value->program);
  CHECK(r.verdict == Verdict::unknown);
  CHECK(!r.failures.empty());
}
