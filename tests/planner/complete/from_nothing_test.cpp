// What is handed out of a search from nothing is what the search has predicted, and each of it does what the model does.
#include <catch2/catch.hpp>

#include <atomic>

#include "engine/plan/parser.h"
#include "planner/complete/complete.h"
#include "planner/evaluate/evaluate.h"
#include "tests/support/model_builder.h"

using namespace planscope;

TEST_CASE("every plan that a search from nothing hands out is verified and takes what it says") {
  const Graph graph = testing::transformer({.batch = 4, .seq = 4, .hidden = 8, .heads = 4, .kv_heads = 4, .ffn = 16,
                                            .vocab = 24, .layers = 3, .bias = false});
  const Cluster cluster = *read_cluster("local", {.devices = 4});
  const std::atomic<bool> stop = false;
  const Result<Completion> c = complete(graph, {}, {}, cluster, {}, stop);
  INFO(to_string(c.diagnostics));
  REQUIRE(c.ok());
  CHECK(c->status == CompletionStatus::complete);
  REQUIRE(c->candidates.size() > 1);
  REQUIRE(c->simulation);
  REQUIRE(c->result);
  CHECK(c->simulation->step_us() == c->candidates[0].step_us);
  MaterializeCache cache;
  for (const stages::Candidate& one : c->candidates) {
    INFO(one.script);
    const Result<plan::Plan> plan = plan::parse_plan(one.script, "");
    REQUIRE(plan.ok());
    const Result<Evaluation> judged = evaluate(graph, *plan, cluster, cache);
    REQUIRE(judged.ok());
    CHECK(judged->simulation.step_us() == one.step_us);
    CHECK(verify(*judged).report.verdict == Verdict::equivalent);
  }
}
