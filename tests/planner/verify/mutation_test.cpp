// Programs are broken at random in every way that the list below knows. verify() must not call any of them equivalent,
// unless nothing changed or the change is harmless for a reason that is stated here:
//   - two values with the same judgement are exchanged where the forward pass reads them (they have equal contents);
//   - a value that is the same at every index is made anew and freed at each instead of having an instance for each;
//   - a value that nobody frees lives to the end of the step, so `free` is not among the instructions that are dropped.
#include <catch2/catch.hpp>

#include "planner/verify/verify.h"
#include "programs.h"
#include "tests/planner/verify/mutations/mutations.h"

using namespace planscope;
using namespace planscope::testing;

TEST_CASE("no mutated program is called equivalent", "[slow]") {
  std::map<std::string, int> applied;
  const Mutations all = breaking_mutations();
  for (const tiny::NamedPlan& plan : tiny::plans()) {
    const auto m = tiny::materialized(plan);
    INFO(plan.name << "\n" << to_string(m.diagnostics));
    REQUIRE(m.value);
    const Program& original = m.value->program;
    const auto accepted = [](const VerifyReport& r) {
      return r.verdict == Verdict::equivalent || r.verdict == Verdict::relaxed;
    };
    if (!accepted(verify(*m.value->graph, original))) continue;  // plans_test.cpp tells
    for (const auto& [name, mutate] : all) {
      Random random(42);
      for (int round = 0; round < 25; ++round) {
        Program broken = original;
        if (!mutate(broken, *m.value->graph, random) || broken == original) continue;
        ++applied[name];
        INFO(name << ", round " << round);
        const VerifyReport r = verify(*m.value->graph, broken);
        if (accepted(r)) {
          CHECK(to_string(r.verdict) == "different");
          break;
        }
      }
    }
  }
  for (const auto& [name, mutate] : all) {
    INFO(name);
    CHECK(applied[name] > 0);
  }
}
