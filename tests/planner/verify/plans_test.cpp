#include <catch2/catch.hpp>
#include <chrono>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/verify/verify.h"
#include "programs.h"
#include "tests/support/model_builder.h"

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

TEST_CASE("micro-batches and data parallelism go around what needs the whole batch") {
  for (const bool contrastive : {false, true})
    for (const char* axes : {"mb", "data", "mb, data", "data, mb"})
      for (const char* more : {"", "use zero(3, *, data)\n", "trans layers[*] recompute\n"}) {
        const std::string text =
            std::string("devices 2 as data=2\naxis mb=2\ntrans * batch by ") + axes + "\n" + more;
        INFO(text << (contrastive ? "contrastive" : "mixed"));
        const Graph g = planscope::testing::transformer(
            {.batch = 8, .layers = 2, .mixed = !contrastive, .contrastive = contrastive});
        const auto m = materialize(g, *plan::parse_plan(text), *read_cluster("local", {.devices = 2}));
        INFO(to_string(m.diagnostics));
        REQUIRE(m.ok());
        const VerifyReport r = verify(*m->graph, m->program);
        for (const Failure& f : r.failures) UNSCOPED_INFO(to_string(f));
        CHECK(to_string(r.verdict) == "equivalent");
      }
}

TEST_CASE("a program of another model is not looked at") {
  const auto m = tiny::materialized(tiny::plans()[1]);
  const VerifyReport r = verify(tiny::tiny_graph(3), m.value->program);
  CHECK(r.verdict == Verdict::unknown);
  CHECK(!r.failures.empty());
}

namespace {

// The first message of a program without one of its reductions: readers get what was to be reduced.
std::string without_reduction(const tiny::NamedPlan& plan, Role role) {
  auto m = tiny::materialized(plan);
  REQUIRE(m.value);
  Program& p = m.value->program;
  for (Segment& s : p.segments)
    for (std::size_t k = 0; k < s.instructions.size(); ++k) {
      const Instruction i = s.instructions[k];
      if (i.code != Code::issue || i.move.kind != MoveKind::all_reduce ||
          p.values[static_cast<std::size_t>(i.in[0])].role != role)
        continue;
      s.instructions.erase(s.instructions.begin() + static_cast<std::ptrdiff_t>(k));
      for (Segment& other : p.segments) {
        std::erase_if(other.instructions, [&](const Instruction& w) { return w.code == Code::wait && w.out == i.out; });
        for (Instruction& reader : other.instructions)
          for (ProgramValueId& v : reader.in)
            for (std::size_t one = 0; one < i.out.size(); ++one)
              if (v == i.out[one] && reader.code != Code::free) v = i.in[one];
      }
      const VerifyReport r = verify(*m.value->graph, p);
      REQUIRE(!r.failures.empty());
      return to_string(r.failures.front());
    }
  FAIL("nothing is reduced");
  return {};
}

}  // namespace

TEST_CASE("a missing reduction is told with operator, tensor, and the statement that asks for it") {
  const std::string tensor =
      "devices 2 as tensor=2\ntrans layers.*.up out by tensor\ntrans layers.*.down in by tensor\n";
  CHECK(
      without_reduction({"a.plan", tensor}, Role::data) ==
      "layout: layers.0:add#0, layers.0.down.linear10[0:8, 0:6, 0:16] on all (devices 0-1): expected [batch, seq, "
      "hidden], got [batch, seq, hidden] partial(tensor) (line 3: trans layers.*.down in by tensor)");
  CHECK(without_reduction({"a.plan", tensor}, Role::gradient) ==
        "gradient: add in b(all), layers.2.add27[0:8, 0:6, 0:16] on all (devices 0-1): expected [batch, seq, hidden], got "
        "[batch, seq, hidden] partial(tensor) (line 2: trans layers.*.up out by tensor)");
  CHECK(
      without_reduction({"a.plan", "devices 2 as data=2\ntrans * batch by data\n"}, Role::gradient) ==
      "update: update in update(all), embed.weight[0:24, 0:16] on all (devices 0-1): expected [vocab, hidden], got "
      "[vocab, hidden] partial(data) (line 2: trans * batch by data)");
}

TEST_CASE("a wrong reduction names its tensor, and the statement that asks for it") {
  auto m = tiny::materialized({"a.plan", "devices 2 as tensor=2\ntrans layers.*.down in by tensor\n"});
  REQUIRE(m.value);
  for (Segment& s : m.value->program.segments)
    for (Instruction& i : s.instructions)
      if (i.code == Code::issue && i.move.kind == MoveKind::all_reduce) i.move.reduce = PartialKind::merge;
  const VerifyReport r = verify(*m.value->graph, m.value->program);
  REQUIRE(!r.failures.empty());
  CHECK(to_string(r.failures.front()) ==
        "communication: all_reduce in f(all), layers.0.down.linear10 on all (devices 0-1): expected a value that "
        "all_reduce "
        "can start from, got [batch, seq, hidden] partial(tensor); the value is not partial over the axes in that way "
        "(line 2: trans layers.*.down in by tensor)");
}

// What joins tasks of several indices waits for nothing, where all that it joins runs in an earlier period.
TEST_CASE("steps overlap around work on parts of the sequence") {
  const Graph graph = testing::transformer({.causal = true});
  const std::string text =
      "devices 2 as pipe=2\naxis mb=2\naxis c=2\nlet S = cut layers[*] into 2\ntrans * batch by mb\n"
      "assign S[i] to pipe=i\ntrans layers[*].attn seq by c\nuse pipedream(S)\n";
  const auto m = materialize(graph, *plan::parse_plan(text, "a.plan"), *read_cluster("local", {.devices = 2}));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  CHECK(to_string(verify(graph, m->program).verdict) == "relaxed");
}
