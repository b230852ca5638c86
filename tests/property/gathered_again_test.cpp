// A weight that several pieces of one backward read, where it was gathered for the forward pass: it is gathered once more, for
// all of them, also where the plan says that this begins before.
#include <algorithm>
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

// Layer 0 takes the first two rows of the batch through one weight, each by itself.
Graph rows_apart() {
  const Result<Graph> g = make_graph(std::make_shared<const Model>(read_model_text(
      "input %0 x: float32[4,6]\n"
      "parameter %1 inp.u: float32[6,6]\n"
      "parameter %2 layers.0.v: float32[6,6]\n"
      "parameter %3 layers.1.w: float32[6,6]\n"
      "inp:linear#0 %4: float32[4,6] = aten::linear(input=%0, weight=%1, bias=none)\n"
      "layers.0:select#0 %5: float32[6] = aten::select.int(self=%4, dim=0, index=0)\n"
      "layers.0:view#0 %6: float32[1,6] = aten::view(self=%5, size=[1, 6])\n"
      "layers.0:linear#0 %7: float32[1,6] = aten::linear(input=%6, weight=%2, bias=none)\n"
      "layers.0:select#1 %8: float32[6] = aten::select.int(self=%4, dim=0, index=1)\n"
      "layers.0:view#1 %9: float32[1,6] = aten::view(self=%8, size=[1, 6])\n"
      "layers.0:linear#1 %10: float32[1,6] = aten::linear(input=%9, weight=%2, bias=none)\n"
      "layers.0:select#2 %11: float32[6] = aten::select.int(self=%4, dim=0, index=2)\n"
      "layers.0:view#2 %12: float32[1,6] = aten::view(self=%11, size=[1, 6])\n"
      "layers.0:select#3 %13: float32[6] = aten::select.int(self=%4, dim=0, index=3)\n"
      "layers.0:view#3 %14: float32[1,6] = aten::view(self=%13, size=[1, 6])\n"
      "layers.0:cat#0 %15: float32[4,6] = aten::cat(tensors=[%7, %10, %12, %14], dim=0)\n"
      "layers.1:linear#0 %16: float32[4,6] = aten::linear(input=%15, weight=%3, bias=none)\n"
      ":square#0 %17: float32[4,6] = aten::square(self=%16)\n"
      ":mean#0 %18: float32[] = aten::mean.dim(self=%17, dim=[0, 1], keepdim=false, dtype=none)\n"
      "loss %18\n")));
  INFO(to_string(g.diagnostics));
  REQUIRE(g.value);
  return *g.value;
}

std::int64_t gathers(const Materialized& m, const std::string& parameter) {
  std::int64_t count = 0;
  for (const Segment& s : m.program.segments)
    count += std::count_if(s.instructions.begin(), s.instructions.end(), [&](const Instruction& i) {
      return i.code == Code::issue && i.move.kind == MoveKind::all_gather &&
             m.graph->tensor_name(m.program.values[static_cast<std::size_t>(i.out[0])].tensor) == parameter;
    });
  return count;
}

}  // namespace

TEST_CASE("what several pieces of a backward read is gathered again once") {
  const std::string text = std::string("devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\nuse zero(3, *, data)\n") +
                           GENERATE("", "use prefetch(layers[*], 1)\n");
  INFO(text);
  const Result<plan::Plan> plan = plan::parse_plan(text, "a.plan");
  REQUIRE(plan.ok());
  const Result<Materialized> m = materialize(rows_apart(), *plan, *read_cluster("local", {.devices = 2}));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  CHECK(gathers(*m, "layers.0.v") == 2);
  const VerifyReport r = verify(*m->graph, m->program);
  INFO((r.failures.empty() ? "" : to_string(r.failures.front())));
  REQUIRE(r.verdict == Verdict::equivalent);
  const TemporaryFolder scratch("gathered_again");
  const std::string file = (scratch.path() / "reference").string();
  write_one_device_run(*m->graph, m->program, file, 2);
  const ThreadRun run = run_on_threads(*m->graph, m->program, file, 2);
  CHECK(run.failure == "");
  CHECK(run.compared > 0);
  CHECK(run.error < 1e-9);
}
