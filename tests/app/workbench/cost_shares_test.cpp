#include "app/workbench/cost_shares.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "tests/app/workbench/sample.h"

namespace planscope {
namespace {

// Mean over all devices of a time of their classes, in microseconds.
double mean(const Simulation& s, const std::function<Nanoseconds(const ClassTimeline&)>& of) {
  double sum = 0, devices = 0;
  for (const ClassTimeline& t : s.classes) {
    sum += static_cast<double>(t.devices) * static_cast<double>(of(t)) / 1000;
    devices += static_cast<double>(t.devices);
  }
  return sum / devices;
}

TEST_CASE("the shares of a step are the whole of it") {
  const std::pair<std::string, std::string> samples[] = {
      {"gpt2_tiny", "gpt2_tiny-data-tensor"},   {"gpt2_tiny", "gpt2_tiny-1f1b"},
      {"gpt2_tiny", "gpt2_tiny-zero3"},         {"gpt2_tiny", "gpt2_tiny-chimera"},
      {"gpt2_tiny", "gpt2_tiny-zb1"},           {"gpt2_tiny", "gpt2_tiny-offload"},
      {"llama_tiny", "llama_tiny-pipe-tensor"}, {"llama_tiny", "llama_tiny-optimizer-swap"},
      {"llama_tiny", "llama_tiny-recompute"},   {"mixtral_tiny", "mixtral_tiny-expert"}};
  for (const auto& [model, plan] : samples) {
    INFO(plan);
    Sample sample(model, sample_plan(plan));
    const Simulation& s = sample.judged().simulation;
    const Share all = cost_shares(sample.judged(), sample.cluster).sum();
    CHECK(all.compute_us == Approx(mean(s, [](const auto& t) { return t.compute; })));
    CHECK(all.communication_us ==
          Approx(mean(s, [](const auto& t) { return t.collective + t.transfer; })).margin(1e-6));
    CHECK(all.host_us == Approx(mean(s, [](const auto& t) { return t.host; })).margin(1e-6));
    CHECK(all.bytes == Approx(static_cast<double>(peak_bytes(s))));
  }
}

TEST_CASE("the parts of a step are the step") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-1f1b"));
  const StepParts p = step_parts(sample.judged().simulation);
  CHECK(p.compute + p.communication + p.idle() == Approx(sample.judged().simulation.step_us()));
  CHECK(p.warm_up + p.cool_down > 0);
}

TEST_CASE("what an operator makes is its own, what a parameter needs is the parameter's") {
  Sample sample("llama_tiny", "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n");
  const Graph& g = *sample.judged().made.graph;
  const CostShares shares = cost_shares(sample.judged(), sample.cluster);
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const std::string name = g.node(o).name();
    if (name.find("down_proj") == name.npos) continue;
    CHECK(shares.operators[static_cast<std::size_t>(o)].communication_us > 0);  // its partial sums
    CHECK(shares.operators[static_cast<std::size_t>(o)].compute_us > 0);
  }
  for (const Share& s : shares.parameters) CHECK(s.compute_us > 0);  // the update
}

TEST_CASE("what an operator takes on a device that runs it is not divided over those that do not") {
  Sample sample("gpt2_tiny", "devices 4 as pipe=4\naxis mb=4\nlet S = cut transformer.h[*] into 4\ntrans * batch by mb\n"
                             "assign S[i] to pipe=i\nuse 1f1b(S)\n");
  const Simulation& s = sample.judged().simulation;
  const CostShares mean = cost_shares(sample.judged(), sample.cluster);
  const CostShares there = cost_shares_where_run(sample.judged(), sample.cluster);
  REQUIRE(s.classes.size() == 4);
  const Graph& g = *sample.judged().made.graph;
  int alone = 0;
  for (std::size_t o = 0; o < g.ops.size(); ++o) {  // what all stages need, as a mask, each of them computes
    const double of_all = mean.operators[o].compute_us, of_one = there.operators[o].compute_us;
    CHECK((of_one == Approx(of_all) || of_one == Approx(4 * of_all)));
    if (g.node(static_cast<OpId>(o)).module.find("mlp") == std::string::npos || of_all == 0) continue;
    ++alone;
    CHECK(of_one == Approx(4 * of_all));
  }
  CHECK(alone > 0);
  for (std::size_t k = 0; k < g.parameters.size(); ++k) {
    const double ratio = there.parameters[k].compute_us / mean.parameters[k].compute_us;
    CHECK((ratio == Approx(4) || ratio == Approx(2)));  // the tied embedding has homes on two stages
  }
  // What the first stage keeps is there, though the last one may need the most.
  for (std::size_t k = 0; k < g.parameters.size(); ++k) CHECK(there.parameters[k].bytes > 0);
}

}  // namespace
}  // namespace planscope
