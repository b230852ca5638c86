// What layers' costs say that stages need, against predictions of the plans.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "engine/plan/parser.h"
#include "planner/search/stages/space.h"
#include "tests/planner/search/stages/samples.h"

using namespace planscope;
using namespace planscope::stages;
using planscope::testing::cut_anywhere;
using planscope::testing::sample;
using planscope::testing::shape_of;

namespace {

// Of each stage; empty: it cannot be made.
std::vector<std::int64_t> predicted(const Graph& graph, const Cluster& cluster, const ModelShape& shape,
                                    const Configuration& c, MaterializeCache& cache) {
  const Result<plan::Plan> plan = plan::parse_plan(script(shape, c), "");
  const Result<Materialized> m = materialize(graph, *plan, cluster, {}, &cache);
  if (!m.ok()) return {};
  const Result<Simulation> s = simulate(*m->graph, m->program, cluster, {});
  REQUIRE(s.ok());
  std::vector<std::int64_t> out(static_cast<std::size_t>(c.pipe), 0);
  for (std::size_t k = 0; k < s->classes.size(); ++k) {
    const int place = devices(m->program, m->program.classes[k]).front() / static_cast<int>(c.devices() / c.pipe);
    std::int64_t& most = out[static_cast<std::size_t>(place)];
    most = std::max(most, s->classes[k].peak.bytes());
  }
  return out;
}

}  // namespace

TEST_CASE("the costs of layers say what stages need, nearly all within a twelfth, most within a hundredth", "[slow]") {
  const char* name = GENERATE("gpt2_tiny", "llama_tiny", "bert_tiny", "t5_tiny", "mixtral_tiny");
  CAPTURE(name);
  const Graph graph = sample(name);
  Cluster cluster = planscope::testing::cluster("dgx-a100x1");
  cluster.levels[0].arity = 4;
  cluster.host.bandwidth = 1e15;  // what is offloaded has left when it may
  cluster.host.latency = Microseconds{0};
  MaterializeCache cache;
  ModelShape shape = shape_of(graph);
  shape.batch_size = 16;
  const Settings settings{.global_batch = 16};
  const ProbeModels models(graph, shape);
  std::mt19937 random(7);
  std::vector<double> errors;
  for (const std::int64_t tensor : {1, 2, 4}) {
    Space space(graph, models, cluster, shape, settings, Deadline(600), cache, 4, tensor);
    for (const std::int64_t pipe : divisors(4 / tensor))
      for (const std::int64_t micro_batch : {1, 2, 4})
        for (int zero = 0; zero < 4; ++zero)
          for (int repeat = 0; repeat < 4; ++repeat) {
            const std::int64_t data = 4 / tensor / pipe;
            if ((zero > 0 && data == 1) || (zero == 3 && pipe > 1)) continue;
            Configuration c{pipe, data, tensor, 16 / data / micro_batch, micro_batch, tensor > 1 && shape.sequence,
                            zero, {},   {}};
            c.offload = repeat == 3;
            cut_anywhere(c, shape.unit_count(), random);
            const std::optional<Space::Costs> costs = space.bordered_costs(c);
            const std::vector<std::int64_t> peaks = predicted(graph, cluster, shape, c, cache);
            if (!costs || peaks.empty()) continue;
            const std::vector<std::int64_t> needed = costs->stage_bytes(c);
            for (std::size_t s = 0; s < peaks.size(); ++s) {
              CAPTURE(script(shape, c), s, needed[s], peaks[s]);
              errors.push_back(static_cast<double>(needed[s] + costs->elsewhere) / static_cast<double>(peaks[s]) - 1);
              CHECK(errors.back() <= kBoundError);
              CHECK(errors.back() >= (c.offload ? -0.5 : -0.18));  // offloaded: the next layer is brought ahead
            }
          }
  }
  REQUIRE(errors.size() > 100);
  const auto within = [&](double most) {
    const auto n = std::count_if(errors.begin(), errors.end(), [&](double e) { return std::abs(e) < most; });
    return static_cast<double>(n) / static_cast<double>(errors.size());
  };
  CHECK(within(0.08) > 0.85);
  CHECK(within(0.01) > 0.5);
}

TEST_CASE("what backward gathers again stays on the device, for every micro-batch under way") {
  const Graph graph = sample("llama3_8b");
  Cluster cluster = planscope::testing::cluster("dgx-h100");
  cluster.levels.back().arity = 4;
  ModelShape shape = shape_of(graph);
  shape.batch_size = 16;
  const Settings settings{.global_batch = 16};
  const ProbeModels models(graph, shape);
  MaterializeCache cache;
  Space space(graph, models, cluster, shape, settings, Deadline(600), cache, 32, 4);
  const std::vector<int> four(8, 4);
  Configuration c{8, 1, 4, 16, 1, true, 0, four, four};
  c.offload = true;
  const std::optional<Space::Costs> costs = space.bordered_costs(c);
  const std::vector<std::int64_t> peaks = predicted(graph, cluster, shape, c, cache);
  REQUIRE(costs);
  REQUIRE(peaks.size() == 8);
  const std::vector<std::int64_t> needed = costs->stage_bytes(c);
  for (std::size_t s = 0; s < peaks.size(); ++s) {
    CAPTURE(s, needed[s], peaks[s]);
    const double error = static_cast<double>(needed[s] + costs->elsewhere) / static_cast<double>(peaks[s]) - 1;
    CHECK(std::abs(error) < 0.08);
  }
}

// Among sizes of axes and ZeRO those with larger micro-batches are left out where nothing fits with smaller ones.
TEST_CASE("no larger micro-batch that is not looked at fits into what rows leave of a device", "[slow]") {
  const std::string name = GENERATE("gpt2_tiny", "llama_tiny", "t5_tiny");
  CAPTURE(name);
  const Graph graph = sample(name);
  const Cluster cluster = planscope::testing::cluster("dgx-a100x1");
  MaterializeCache cache;
  ModelShape shape = shape_of(graph);
  shape.batch_size = 32;
  const Settings settings{.global_batch = 32};
  const ProbeModels models(graph, shape);
  const auto everything = [](const Configuration&) { return true; };
  const Deadline deadline(600);
  int left_out = 0, fit = 0;
  for (const std::int64_t tensor : {1, 2}) {
    Space all(graph, models, cluster, shape, settings, deadline, cache, 8, tensor);
    all.fill(everything, std::numeric_limits<std::int64_t>::max(), deadline);
    std::vector<std::int64_t> needs;  // of each point the least that a device has to have
    for (const stages::Point& p : all.points) {
      const std::optional<Space::Costs> cost = p.refined ? all.costs(p.configuration) : std::nullopt;
      const auto lacking = cost ? shortage(cost->grounds, cost->spec) : std::nullopt;
      needs.push_back(lacking ? cost->grounds[0].memory + *lacking : -1);
    }
    std::vector<std::int64_t> sorted;
    std::copy_if(needs.begin(), needs.end(), std::back_inserter(sorted), [](std::int64_t bytes) { return bytes > 0; });
    std::sort(sorted.begin(), sorted.end());
    for (const double part : {0.02, 0.2, 0.6}) {
      const std::int64_t memory = sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size()))];
      Space some(graph, models, cluster, shape, settings, deadline, cache, 8, tensor);
      some.fill(everything, memory, deadline);
      for (std::size_t i = 0; i < all.points.size(); ++i) {
        const Configuration& c = all.points[i].configuration;
        const bool there = std::any_of(some.points.begin(), some.points.end(),
                                       [&](const stages::Point& p) { return p.configuration.sizes() == c.sizes(); });
        if (needs[i] < 0) continue;
        CAPTURE(script(shape, c), needs[i], memory);
        CHECK((there || needs[i] > memory));
        left_out += there ? 0 : 1;
        fit += needs[i] <= memory ? 1 : 0;
      }
    }
  }
  CHECK(left_out > 5);
  CHECK(fit > 20);
}
