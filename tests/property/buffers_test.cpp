// What a step makes of a buffer is what the next one reads: in the one-device run, and under plans that split the batch.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/base/temporary_folder.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/runtime/reference.h"
#include "engine/runtime/tensor_source.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"
#include "tests/engine/graph/import/model_text.h"
#include "tests/property/run_on_threads.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

// r becomes halfway between r and the mean of h over the batch, and the loss reads it, and what it was before.
Graph moving_average(bool carried) {
  Model m = read_model_text(
      "input %0 x: float32[8,6]\n"
      "parameter %1 w: float32[5,6]\n"
      "buffer %2 r: float32[5]\n"
      "a:linear#0 %3: float32[8,5] = aten::linear(input=%0, weight=%1, bias=none)\n"
      "b:mean#0 %4: float32[5] = aten::mean.dim(self=%3, dim=[0], keepdim=false, dtype=none)\n"
      "b:lerp#0 %5: float32[5] = aten::lerp.Scalar(self=%2, end=%4, weight=0.5) no_grad\n"
      "b:sub#0 %6: float32[8,5] = aten::sub.Tensor(self=%3, other=%5, alpha=1)\n"
      "b:mul#0 %7: float32[8,5] = aten::mul.Tensor(self=%6, other=%2)\n"
      "b:square#0 %8: float32[8,5] = aten::square(self=%7)\n"
      "b:mean#1 %9: float32[] = aten::mean.dim(self=%8, dim=[0, 1], keepdim=false, dtype=none)\n"
      "loss %9\n");
  if (carried) m.mutations = {{2, 5}};
  const Result<Graph> g = make_graph(std::make_shared<const Model>(std::move(m)));
  REQUIRE(g.value);
  return *g.value;
}

const char* const plans[] = {"devices 2 as data=2\ntrans * batch by data\n",
                             "devices 1\naxis mb=2\ntrans * batch by mb\n",
                             "devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\n",
                             "devices 2 as pipe=2\nassign a to pipe=0\nassign b to pipe=1\n",
                             "devices 1\naxis mb=2\ntrans * batch by mb\ntrans * offload\n",
                             "devices 2 as data=2\ntrans * batch by data\ntrans b recompute\n"};

Materialized materialized(const std::string& text) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "a.plan");
  REQUIRE(plan.ok());
  Result<Materialized> m = materialize(moving_average(true), *plan, *read_cluster("local", {.devices = 6}));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  return std::move(*m);
}

std::vector<double> losses(const Graph& g) {
  TensorSource source(g, 1, Precision::float64);
  return run_reference(g, source, {Precision::float64, 1}, default_settings(OptimizerKind::sgd), 3, {}).losses;
}

}  // namespace

TEST_CASE("the one-device run carries buffers from step to step") {
  const std::vector<double> with = losses(moving_average(true)), without = losses(moving_average(false));
  CHECK(with[0] == without[0]);
  CHECK(std::abs(with[1] - without[1]) > 1e-3 * without[1]);
  CHECK(std::abs(with[2] - without[2]) > 1e-3 * without[2]);
}

TEST_CASE("plans that split the batch carry buffers from step to step") {
  const std::string text = GENERATE_REF(from_range(std::begin(plans), std::end(plans)));
  INFO(text);
  const Materialized m = materialized(text);
  const VerifyReport r = verify(*m.graph, m.program);
  INFO((r.failures.empty() ? "" : to_string(r.failures.front())));
  REQUIRE(r.verdict == Verdict::equivalent);
  const TemporaryFolder scratch("buffers");
  const std::string file = (scratch.path() / "reference").string();
  write_one_device_run(*m.graph, m.program, file, 3);
  const ThreadRun run = run_on_threads(*m.graph, m.program, file, 3);
  CHECK(run.failure == "");
  CHECK(run.compared > 0);
  CHECK(run.error < 1e-9);
}

TEST_CASE("buffers are in memory between steps, and one that is written is there twice until the step ends") {
  const Cluster cluster = *read_cluster("local", {.devices = 6});
  const auto weights = [&](const Graph& g, const std::string& text) {
    const Result<Materialized> m = materialize(g, *plan::parse_plan(text, "a.plan"), cluster);
    INFO(to_string(m.diagnostics));
    REQUIRE(m.value);
    const Result<Simulation> s = simulate(*m->graph, m->program, cluster, {});
    REQUIRE(s.value);
    std::vector<std::pair<std::int64_t, std::int64_t>> out;  // of each class: at the beginning of a step, more at its end
    for (const ClassTimeline& c : s->classes)
      out.emplace_back(c.memory.front().bytes, c.memory.back().bytes - c.memory.front().bytes);
    return out;
  };
  using Bytes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const std::int64_t w = 5 * 6 * 4, trained = 3 * w, r = 5 * 4, loss = 4;  // AdamW's state is two of w
  const Graph read = moving_average(false), carried = moving_average(true);
  CHECK(weights(read, "devices 1\n") == Bytes{{trained + r, loss}});
  CHECK(weights(carried, "devices 1\n") == Bytes{{trained + r, r + loss}});
  CHECK(weights(carried, plans[2]) == Bytes{{trained + r, r + 2 * loss}});  // and its sum over the micro-batches
  CHECK(weights(carried, plans[3]) == Bytes{{trained, 0}, {r, r + loss}});
  CHECK(weights(read, "devices 5 as tensor=5\ntrans a out by tensor\n") == Bytes{{(trained + r) / 5, loss}});
}

TEST_CASE("a buffer that is not written is refuted") {
  Materialized m = materialized(plans[0]);
  for (Segment& s : m.program.segments)
    std::erase_if(s.instructions, [](const Instruction& i) { return i.code == Code::write; });
  const VerifyReport r = verify(*m.graph, m.program);
  REQUIRE(r.verdict == Verdict::different);
  CHECK(to_string(r.failures.front()).find("expected a write of what it is after the step, got none") !=
        std::string::npos);
}

TEST_CASE("a buffer that steps change is not stored as if they did not") {
  Materialized m = materialized(plans[0]);
  Program& p = m.program;
  for (Segment& s : p.segments)
    std::erase_if(s.instructions, [&](const Instruction& i) {
      const bool of_it = i.code == Code::load && p.values[static_cast<std::size_t>(i.out[0])].tensor == 2;
      if (of_it) p.values[static_cast<std::size_t>(i.out[0])].role = Role::home;
      return of_it || i.code == Code::write;
    });
  const VerifyReport r = verify(*m.graph, p);
  REQUIRE(r.verdict == Verdict::different);
  CHECK(to_string(r.failures.front()).find("a buffer that is loaded at every step") != std::string::npos);
}
