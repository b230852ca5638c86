#include "app/workbench/plan_diff.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/app/workbench/sample.h"

namespace planscope {
namespace {

PlanDifference compared(const Sample& a, const Sample& b) {
  return difference(a.graph(), {a.settled.plan, a.judged(), a.cluster}, {b.settled.plan, b.judged(), b.cluster});
}

TEST_CASE("the parts of a difference are the whole of it") {
  const char* plans[] = {"gpt2_tiny-data-tensor", "gpt2_tiny-1f1b", "gpt2_tiny-zero3", "gpt2_tiny-offload",
                         "gpt2_tiny-chimera",     "gpt2_tiny-zb1",  "gpt2_tiny-open",  "gpt2_tiny-pipedream"};
  for (const char* first : {"gpt2_tiny-data-tensor", "gpt2_tiny-1f1b"}) {
    const Sample a("gpt2_tiny", sample_plan(first));
    for (const char* second : plans) {
      INFO(first << " " << second);
      const Sample b("gpt2_tiny", sample_plan(second));
      const PlanDifference d = compared(a, b);
      double us = d.rest.us(), bytes = d.rest.operators.bytes;
      for (const PlanChange& c : d.changes) {
        us += c.delta.us();
        bytes += c.delta.bytes;
      }
      CHECK(us == Approx(b.judged().simulation.step_us() - a.judged().simulation.step_us()).margin(1e-3));
      CHECK(bytes == Approx(static_cast<double>(d.delta_bytes)).margin(1));
      CHECK(d.changes.empty() == (std::string(first) == second));
    }
  }
}

TEST_CASE("one line more is one change, folded over equal layers") {
  const std::string text = "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n";
  const Sample a("llama_tiny", text), b("llama_tiny", text + "trans model.layers[*].mlp recompute\n");
  const PlanDifference d = compared(a, b);
  REQUIRE(d.changes.size() == 1);
  const PlanChange& c = d.changes[0];
  CHECK(c.operators.size() == 5);  // gate, up, down, the activation and the product
  CHECK(c.count == 20);
  REQUIRE(c.decisions.size() == 1);
  CHECK(c.decisions[0].about == "backward");
  CHECK(c.decisions[0].was == "keep");
  CHECK(c.decisions[0].is == "recompute");
  CHECK_FALSE(c.decisions[0].was_line);
  CHECK(c.decisions[0].is_line == StatementRef{3, "a.plan", "trans model.layers[*].mlp recompute"});
  CHECK(c.delta.compute_us > 0);
}

TEST_CASE("equal plans differ in nothing, whatever their lines are") {
  const Sample a("llama_tiny", "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n");
  const Sample b("llama_tiny", "# the same\ndevices 2 as tensor=2\nlet L = model.layers[*]\nuse tp(L, tensor)\n");
  const PlanDifference d = compared(a, b);
  CHECK(d.changes.empty());
  CHECK(d.delta_us == 0);
  CHECK(d.rest.us() == Approx(0).margin(1e-9));
}

TEST_CASE("devices, sizes, axes and order are changes of the whole plan") {
  const Sample a("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor")), b("gpt2_tiny", sample_plan("gpt2_tiny-1f1b"));
  std::vector<std::string> whole;
  for (const PlanChange& c : compared(a, b).changes)
    if (c.operators.empty())
      whole.push_back(c.decisions.at(0).about + ": " + c.decisions[0].was + " -> " + c.decisions[0].is);
  std::sort(whole.begin(), whole.end());
  CHECK(whole ==
        std::vector<std::string>{"axis mb:  -> 8", "devices: 4 data=2 tensor=2 -> 4 pipe=4", "order:  -> use 1f1b(S)"});
}

}  // namespace
}  // namespace planscope
