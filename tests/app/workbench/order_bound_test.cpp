// The bound of plans in which only the order is open: what the busiest device computes, which is the same in every order.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>

#include "planner/complete/complete.h"
#include "planner/evaluate/evaluate.h"
#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"

using namespace planscope;

namespace {

struct Bench {
  Bench(const std::string& name, const std::string& cluster_name, const std::string& text)
      : model(open_model("sample_models/" + name + ".pt2", nullptr)), rest(text) {
    cluster = *open_cluster(cluster_name, *plan::parse_plan(text, "a.plan")).value;
  }

  Completion open(const std::string& lines = "order ?\n", const std::string& rows = "") {
    std::vector<plan::Plan> files;
    if (!rows.empty()) files.push_back(*plan::parse_plan(rows, "a.rows"));
    Result<Completion> c =
        complete(model->graph, *plan::parse_plan(rest + lines, "a.plan"), files, cluster, {.time_limit_s = 60}, stop);
    INFO(to_string(c.diagnostics));
    REQUIRE(c.ok());
    REQUIRE(c->simulation);
    REQUIRE(c->lower_bound_us);
    return std::move(*c.value);
  }

  Simulation in_order(const std::string& order) {
    const Result<Evaluation> j = evaluate(model->graph, *plan::parse_plan(rest + order, "a.plan"), cluster, cache, {});
    INFO(rest << order << to_string(j.diagnostics));
    REQUIRE(j.ok());
    return j->simulation;
  }

  Result<OpenModel> model;
  std::string rest;
  Cluster cluster;
  MaterializeCache cache;
  std::atomic<bool> stop{false};
};

double busiest_us(const Simulation& s) {
  Nanoseconds most = 0;
  for (const ClassTimeline& t : s.classes) most = std::max(most, t.compute);
  return static_cast<double>(most) / 1000;
}

}  // namespace

TEST_CASE("where only the order is open, no order is shorter than what the busiest device computes", "[slow]") {
  struct Space {
    std::string model, text;
    std::vector<std::string> orders;
  };
  const std::vector<Space> spaces = {
      {"gpt2_tiny",
       "devices 4 as pipe=2 data=2\naxis mb=4\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by mb, "
       "data\nuse "
       "zero(3, *, data)\nassign S[i] to pipe=i\n",
       {"use gpipe(S)\n", "use 1f1b(S)\n", "order f(S[1])[m] < b(S[1])[m] < f(S[1])[m+1]\n", ""}},
      {"gpt2_tiny",
       "devices 4 as pipe=4\naxis mb=8\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by mb\ntrans S "
       "recompute\n"
       "assign S[i] to pipe=i\n",
       {"use gpipe(S)\n", "use 1f1b(S)\n", ""}},
      {"t5_tiny",
       "devices 4 as pipe=2 tensor=2\naxis mb=4\nlet E = :embedding, lm_head, :cross_entropy_loss\nlet S = cut "
       "{encoder,decoder}.block[*] into |pipe|\ntrans * batch by mb\ntrans E vocab by pipe, tensor\nassign S[i] to "
       "pipe=i\n"
       "assign E to all\n",
       {"use gpipe(S)\n", "use 1f1b(S)\n", ""}},
      {"evoformer_tiny",
       "devices 4 as pipe=4\naxis mb=8\nlet S = cut evoformer.blocks[*] into |pipe|\ntrans * batch by mb\nassign S[i] "
       "to "
       "pipe=i\n",
       {"use gpipe(S)\n", "use table7(S)\n", ""}},
  };
  for (const Space& space : spaces)
    for (const std::string cluster : {"local", "dgx-h100"}) {
      INFO(space.model << " on " << cluster << "\n" << space.text);
      Bench bench(space.model, cluster, space.text);
      const Completion c = bench.open();
      CHECK(c.status == CompletionStatus::complete);
      CHECK(*c.lower_bound_us == busiest_us(*c.simulation));
      CHECK(*c.lower_bound_us <= c.simulation->step_us());
      CHECK(*c.lower_bound_us > 0.5 * c.simulation->step_us());
      for (const std::string& order : space.orders) {
        const Simulation s = bench.in_order(order);
        CHECK(*c.lower_bound_us <= s.step_us());
        CHECK(busiest_us(s) == *c.lower_bound_us);
      }
    }
}

TEST_CASE("where more than the order is open, the bound is of all that") {
  Bench bench(
      "gpt2_tiny", "dgx-h100",
      "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by mb\nassign S[i] to "
      "pipe=i\n");
  const double one = *bench.open().lower_bound_us;
  // Recomputation is more work; a choice that may leave it out must not raise the bound over the plan without it.
  CHECK(*bench.open("trans S recompute\norder ?\n").lower_bound_us > one);
  CHECK(*bench.open("trans S recompute|keep\norder ?\n").lower_bound_us <= one);
  CHECK(*bench.open("order ?\n", "trans S recompute|keep\n").lower_bound_us <= one);
  CHECK(*bench.open("order ?\n", "require memory(all) <= 1GiB\n").lower_bound_us == one);
}
