// Orders from plans: what the schedule search finds for a Program, written back as lines, is a legal plan that is no slower than
// the known schedule that it began with.
#include <catch2/catch.hpp>

#include <random>

#include "engine/graph/import.h"
#include "engine/plan/parser.h"
#include "planner/search/orders/least_memory.h"
#include "planner/verify/verify.h"

using namespace planscope;
using namespace planscope::orders;

namespace {

struct Played {
  Materialized made;
  Simulation simulation;
};

struct Bench {
  Graph graph;
  Cluster cluster;

  explicit Bench(const std::string& model) {
    Result<Model> m = import_model("sample_models/" + model + ".pt2");
    REQUIRE(m.ok());
    graph = *make_graph(std::make_shared<const Model>(std::move(*m.value))).value;
    cluster = *read_cluster("dgx2-v100x1").value;
  }

  Played play(const std::string& text) const {
    const Result<plan::Plan> p = plan::parse_plan(text, "order.plan");
    INFO(text);
    REQUIRE(p.ok());
    Result<Materialized> m = materialize(graph, *p, cluster);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.ok());
    Result<Simulation> s = simulate(*m->graph, m->program, cluster, {.alive = true});
    REQUIRE(s.ok());
    return {std::move(*m), std::move(*s)};
  }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

const std::string kEvoformer = R"(devices 4 as pipe=4
axis mb=8
let S = cut evoformer.blocks[*] into |pipe|
trans * batch by mb
assign S[i] to pipe=i
)";

const std::string kT5 = R"(devices 4 as pipe=2 tensor=2
axis mb=8
let E = {encoder,decoder}.embed_tokens, lm_head, :cross_entropy_loss
let S = cut {encoder,decoder}.block[*] into |pipe|
trans * batch by mb
trans E vocab by pipe, tensor
assign S[i] to pipe=i
assign E to all
)";

}  // namespace

TEST_CASE("three forward passes and one backward: no slower than Table 7 of the paper") {
  const Bench bench("evoformer_tiny");
  const Played paper = bench.play(kEvoformer + "order ?\nauto use table7(S)\n");
  const Result<ProgramCase> c = program_case(paper.made, paper.simulation, bench.cluster);
  REQUIRE(c.ok());
  REQUIRE(schedule::check(c->problem).empty());
  CHECK(c->axis == "mb");
  CHECK(std::find(c->tasks.begin(), c->tasks.end(), "f(S[1]@2)") != c->tasks.end());
  const schedule::Answer a = schedule::search(c->problem);
  CHECK(a.optimal);
  CHECK(a.bound_by == "load");  // no bubble in the steady state
  for (const auto& lines : {order_lines(*c, a), whole_order_lines(*c, a)}) {
    REQUIRE(lines.size() == 4);
    const Played found = bench.play(kEvoformer + joined(lines));
    CHECK(found.simulation.step_ns < paper.simulation.step_ns);
    CHECK(verify(*found.made.graph, found.made.program).verdict == Verdict::equivalent);
  }
}

TEST_CASE("an embedding on all devices, interlaced with stages: no bubble in the steady state") {
  const Bench bench("t5_tiny");
  const Played gpipe = bench.play(kT5 + "use gpipe(S)\n"), one = bench.play(kT5 + "order ?\nauto use 1f1b(S)\n");
  const Result<ProgramCase> c = program_case(one.made, one.simulation, bench.cluster);
  REQUIRE(c.ok());
  const schedule::Answer a = schedule::search(c->problem);
  CHECK(a.optimal);
  CHECK(a.bound_by == "load");
  const Played found = bench.play(kT5 + joined(whole_order_lines(*c, a)));
  CHECK(found.simulation.step_ns < one.simulation.step_ns);
  CHECK(found.simulation.step_ns < gpipe.simulation.step_ns);
  CHECK(verify(*found.made.graph, found.made.program).verdict == Verdict::equivalent);
}

TEST_CASE("order rows beside what is open are kept") {
  const Bench bench("gpt2_tiny");
  const std::string text =
      "devices 2 as pipe=2\naxis mb=8\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
      "assign S[i] to pipe=i\n";
  for (const std::string& rows :
       {std::string("order f(S[0])[m+2] < b(S[0])[m] < f(S[0])[m+3]\n"),
        std::string("order f(S[0])[3] < b(S[0])[0]\norder b(S[1])[1] < f(S[1])[4]\n"), std::string("use gpipe(S)\n")}) {
    const Played with = bench.play(text + rows);
    const Result<ProgramCase> c = program_case(with.made, with.simulation, bench.cluster);
    REQUIRE(c.ok());
    REQUIRE(schedule::check(c->problem).empty());
    CHECK(!c->problem.order.empty());
    CHECK(c->problem.rows[0] == "line 6");
    const schedule::Answer a = schedule::search(c->problem);
    const auto lines = whole_order_lines(*c, a);
    REQUIRE(!lines.empty());
    // The rows add nothing to what was found: both together are no contradiction, and the same schedule.
    const Played found = bench.play(text + joined(lines)), both = bench.play(text + rows + joined(lines));
    CHECK(both.simulation.step_ns == found.simulation.step_ns);
  }
}

TEST_CASE("lines of the planner are no rows") {
  const Bench bench("gpt2_tiny");
  const std::string text =
      "devices 2 as pipe=2\naxis mb=8\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
      "assign S[i] to pipe=i\norder ?\nauto use 1f1b(S)\n";
  const Played played = bench.play(text);
  const Result<ProgramCase> c = program_case(played.made, played.simulation, bench.cluster);
  REQUIRE(c.ok());
  CHECK(c->problem.order.empty());
}

TEST_CASE("memory that binds is a row of the case", "[slow]") {
  Bench bench("gpt2_tiny");
  const std::string text =
      "devices 2 as pipe=2\naxis mb=8\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
      "assign S[i] to pipe=i\n";
  const Played gpipe = bench.play(text + "order ?\nauto use gpipe(S)\n");
  const std::int64_t peak = gpipe.simulation.classes[0].peak.bytes();
  const Result<ProgramCase> free = program_case(gpipe.made, gpipe.simulation, bench.cluster);
  REQUIRE(free.ok());
  CHECK(!free->problem.memory[0]);
  bench.cluster.kinds[0].type.memory = {peak * 3 / 4};
  const Result<ProgramCase> tight = program_case(gpipe.made, gpipe.simulation, bench.cluster);
  REQUIRE(tight.ok());
  REQUIRE(schedule::check(tight->problem).empty());
  CHECK(tight->problem.memory[0].has_value());
  const schedule::Answer a = schedule::search(tight->problem);
  REQUIRE(!order_lines(*tight, a).empty());
  const Played found = bench.play(text + joined(order_lines(*tight, a)));
  CHECK(found.simulation.classes[0].peak.bytes() < peak);
}

TEST_CASE("what cannot be said as a case is refused with its reason") {
  const Bench bench("gpt2_tiny");
  const Played data = bench.play("devices 2 as data=2\ntrans * batch by data\n");
  const Result<ProgramCase> none = program_case(data.made, data.simulation, bench.cluster);
  CHECK(to_string(none.diagnostics) == "there is no axis of micro-batches\n");
  const Played two = bench.play("devices 1\naxis mb=2\naxis c=2\ntrans * batch by mb, c\n");
  CHECK(!program_case(two.made, two.simulation, bench.cluster).ok());
}

namespace {

const std::string kTwoStages =
    "devices 2 as pipe=2\naxis mb=8\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
    "assign S[i] to pipe=i\n";

}  // namespace

TEST_CASE("what every order needs is no more than any order needs, and nearly all of what the rows force") {
  const Bench bench("gpt2_tiny");
  // Rows that the first task of each pair can keep before the second: forwards ahead of backwards.
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const std::string stage = std::to_string(below(2)), ahead = std::to_string(1 + below(6));
    std::string rows = "order f(S[" + stage + "])[m+" + ahead + "] < b(S[" + stage + "])[m]\n";
    if (below(2)) rows += "order f(S[0])[" + std::to_string(2 + below(6)) + "] < b(S[0])[1]\n";
    INFO(rows);
    std::vector<std::int64_t> least;
    for (const char* answer : {"auto use ready()\n", "auto use gpipe(S)\n"}) {
      const Played p = bench.play(kTwoStages + "order ?\n" + answer + rows);
      const std::vector<std::int64_t> bound = least_memory(p.made, p.simulation, bench.cluster);
      REQUIRE(bound.size() == 2);
      for (std::size_t k = 0; k < 2; ++k) least.push_back(bound[k]);
    }
    for (const char* answer : {"auto use ready()\n", "auto use gpipe(S)\n"}) {
      const Played p = bench.play(kTwoStages + "order ?\n" + answer + rows);
      for (std::size_t i = 0; i < least.size(); ++i) CHECK(least[i] <= p.simulation.classes[i % 2].peak.bytes());
    }
  }
  const Played all = bench.play(kTwoStages + "order f(S[0])[m] < b(S[0])[0:8]\n");
  const Played one = bench.play(kTwoStages + "use 1f1b(S)\n");
  const std::int64_t forced = least_memory(all.made, all.simulation, bench.cluster)[0];
  CHECK(forced > one.simulation.classes[0].peak.bytes());
  CHECK(forced > all.simulation.classes[0].peak.bytes() * 8 / 10);
}
