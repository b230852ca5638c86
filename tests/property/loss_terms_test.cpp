// Losses of micro-batches beside what is no part of them: a penalty on weights, and a number. A stage need not wait for all of
// its micro-batches.
#include <torch/csrc/autograd/autograd.h>

#include <catch2/catch.hpp>

#include "engine/base/temporary_folder.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/verify/verify.h"
#include "tests/engine/graph/import/model_text.h"
#include "tests/property/run_on_threads.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

Graph penalized() {
  const Result<Graph> g = make_graph(std::make_shared<const Model>(read_model_text(
      "input %0 x: float32[8,6]\n"
      "parameter %1 v: float32[5,6]\n"
      "parameter %2 w: float32[4,5]\n"
      "front:linear#0 %3: float32[8,5] = aten::linear(input=%0, weight=%1, bias=none)\n"
      "back:linear#0 %4: float32[8,4] = aten::linear(input=%3, weight=%2, bias=none)\n"
      "back:square#0 %5: float32[8,4] = aten::square(self=%4)\n"
      "back:mean#0 %6: float32[] = aten::mean.dim(self=%5, dim=[0, 1], keepdim=false, dtype=none)\n"
      "back:square#1 %7: float32[4,5] = aten::square(self=%2)\n"
      "back:sum#0 %8: float32[] = aten::sum.dim_IntList(self=%7, dim=[0, 1], keepdim=false, dtype=none)\n"
      "back:add#0 %9: float32[] = aten::add.Tensor(self=%6, other=%8, alpha=0.5)\n"
      "back:scalar_tensor#0 %10: float32[] = aten::scalar_tensor(s=0.25, dtype=float32, layout=none, device=none, pin_memory=none)\n"
      "back:add#1 %11: float32[] = aten::add.Tensor(self=%9, other=%10, alpha=1)\n"
      "loss %11\n")));
  INFO(to_string(g.diagnostics));
  REQUIRE(g.value);
  return *g.value;
}

}  // namespace

TEST_CASE("a loss beside a penalty and a number is the sum of what micro-batches and devices have of it") {
  const std::string text =
      GENERATE(as<std::string>(),
               "devices 2 as pipe=2\naxis mb=4\ntrans * batch by mb\nassign front to pipe=0\nassign back to pipe=1\n"
               "order b(back)[m] < f(back)[m+1]\n",
               "devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\norder b(*)[m] < f(*)[m+1]\n",
               "devices 2 as data=2\ntrans * batch by data\n", "devices 2 as tensor=2\ntrans back:linear in by tensor sizes 3,2\n");
  INFO(text);
  const Result<plan::Plan> plan = plan::parse_plan(text, "a.plan");
  REQUIRE(plan.ok());
  const Result<Materialized> m = materialize(penalized(), *plan, *read_cluster("local", {.devices = 2}));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  const VerifyReport r = verify(*m->graph, m->program);
  INFO((r.failures.empty() ? "" : to_string(r.failures.front())));
  REQUIRE(r.verdict == Verdict::equivalent);
  const TemporaryFolder scratch("loss_terms");
  const std::string file = (scratch.path() / "reference").string();
  write_one_device_run(*m->graph, m->program, file, 2);
  const ThreadRun run = run_on_threads(*m->graph, m->program, file, 2);
  CHECK(run.failure == "");
  CHECK(run.compared > 0);
  CHECK(run.error < 1e-9);
}
