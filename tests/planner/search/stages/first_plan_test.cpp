// Whatever limits there are, of time or of memory: a plan that keeps them, or why there is none.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "planner/search/stages/configuration.h"
#include "planner/search/stages/plain_plans.h"
#include "planner/search/stages/stages.h"
#include "tests/planner/search/stages/samples.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::stages;
using namespace planscope::testing;

namespace {

void check_within(const Graph& graph, const Cluster& c, const Found& f, std::int64_t limit) {
  for (const Candidate& best : f.best) {
    INFO(best.script);
    for (const std::int64_t bytes : best.peak_bytes) CHECK(bytes <= limit);
    CHECK(predicted(graph, c, best.script).step_us() == Approx(best.step_us));
  }
  CHECK((f.outcome == Outcome::found) == !f.best.empty());
  if (f.best.empty()) CHECK(!f.reason.empty());
}

struct SlowClock : Clock {  // so much passes whenever somebody looks
  explicit SlowClock(std::int64_t us) : a_look_us(us) {}
  std::int64_t wall_us() const override { return steady_us(); }
  std::int64_t steady_us() const override { return now_us += a_look_us; }
  const std::int64_t a_look_us;
  mutable std::atomic<std::int64_t> now_us = 0;
};

}  // namespace

TEST_CASE("memory from nothing to plenty leaves a plan within it, or why there is none", "[slow]") {
  const Cluster c = cluster("localx4");
  // Without layers that are alike there is nothing that could be computed again.
  const auto [name, layers] = GENERATE(table<std::string, int>({{"one layer", 1}, {"three layers", 3}}));
  const Graph graph = testing::transformer({.batch = 4, .hidden = 16, .ffn = 32, .vocab = 50, .layers = layers});
  bool found = false, none = false;
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 20; bytes += std::max<std::int64_t>(1 << 10, bytes / 4)) {
    Settings s{.global_batch = 8};
    s.rows = rows("require memory(all) <= " + std::to_string(bytes) + "\n");
    const Result<Found> f = search(graph, c, s);
    INFO(name << " " << bytes);
    REQUIRE(f.ok());
    check_within(graph, c, *f, bytes);
    found = found || f->outcome == Outcome::found;
    none = none || f->outcome != Outcome::found;
  }
  CHECK(found);
  CHECK(none);
}

TEST_CASE("a search that ends at once has a plan that anyone would begin with") {
  for (const char* name : {"gpt2_tiny", "llama_tiny", "mixtral_tiny", "t5_tiny", "evoformer_tiny", "swin_tiny"}) {
    const Graph graph = sample(name);
    const Cluster c = cluster("dgx-h100x1");
    const LookedAtClock clock;
    Settings s{.global_batch = 32, .seconds = 1e-6};
    s.clock = &clock;
    const Result<Found> f = search(graph, c, s);
    INFO(name);
    REQUIRE(f.ok());
    CHECK(f->ended_early);
    REQUIRE(f->outcome == Outcome::found);
    CHECK(predicted(graph, c, f->best[0].script).step_us() == Approx(f->best[0].step_us));
  }
}

// Its batch is too small for replicas, and its heads for groups of all devices: several plans are refused before one fits.
TEST_CASE("a search that ends soon after it began has a plan, however slow the machine is", "[slow]") {
  const Graph graph = sample("evoformer_tiny");
  const Cluster c = cluster("dgx-h100x1");
  for (const std::int64_t a_look : {1'000, 20'000, 50'000}) {  // microseconds
    const SlowClock clock(a_look);
    for (const double seconds : {0.5, 1.2, 2.0}) {
      Settings s{.seconds = seconds};
      s.clock = &clock;
      const Result<Found> f = search(graph, c, s);
      INFO(a_look << " " << seconds);
      REQUIRE(f.ok());
      CHECK(f->outcome == Outcome::found);
    }
  }
}

TEST_CASE("plain plans use all devices, and those that keep least come last") {
  ModelShape shape = shape_of(sample("llama_tiny"));
  shape.batch_size = 32;
  const std::vector<Configuration> all = plain_plans(shape, 16, 8, false);
  REQUIRE(all.size() > 4);
  CHECK(script(shape, all[0]) == script(shape, {.data = 16, .micro_batch = 2, .stages = {2}, .recompute = {0}}));
  int tensor = 0, pipe = 0;
  for (const Configuration& c : all) {
    INFO(script(shape, c));
    CHECK(c.devices() == 16);
    CHECK(c.data * c.micro_batches * c.micro_batch == 32);
    CHECK(plan::parse_plan(script(shape, c), "").ok());
    tensor += c.tensor > 1;
    pipe += c.pipe > 1;
  }
  CHECK(tensor > 0);
  CHECK(pipe > 0);
}

// A norm that a layer calls twice has a second call; the layer has none.
TEST_CASE("layers are called as often as all of what is in them") {
  const auto shape = [](std::vector<std::pair<std::string, int>> operators) {
    plan::ModelInfo info;
    for (auto& [module, call] : operators) {
      plan::OperatorInfo& op = info.operators.emplace_back();
      op.module = module;
      op.call = call;
    }
    return model_shape(info);
  };
  const ModelShape shared = shape({{"h.0.norm", 0}, {"h.0.up", -1}, {"h.0.norm", 1}, {"h.1.norm", 0}, {"h.1.up", -1},
                                   {"h.1.norm", 1}});
  CHECK(shared.unit_count() == 2);
  CHECK(shared.calls == 1);
  const ModelShape again = shape({{"h.0.up", 0}, {"h.1.up", 0}, {"h.0.up", 1}, {"h.1.up", 1}});
  CHECK(again.calls == 2);
}

TEST_CASE("a model without layers is written without them") {
  const ModelShape shape = shape_of(testing::transformer({.layers = 1}));
  REQUIRE(shape.unit_count() == 0);
  CHECK(plan::parse_plan(whole_script(shape, {.micro_batch = 2}, 2), "").ok());
}

TEST_CASE("a search that ends early says what ended it, wherever it was", "[slow]") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-h100x8");  // a batch of 1 leaves some of the devices idle: they are searched one number after another
  struct : Clock {  // a microsecond passes whenever somebody looks
    std::int64_t wall_us() const override { return steady_us(); }
    std::int64_t steady_us() const override { return ++now_us; }
    mutable std::atomic<std::int64_t> now_us = 0;
  } clock;
  Settings s{.global_batch = 1};
  s.clock = &clock;
  REQUIRE(search(graph, c, s)->outcome == Outcome::found);
  const double all = 1e-6 * static_cast<double>(clock.now_us);
  int ended = 0;
  for (double share = 0.05; share < 1; share += 0.1) {
    s.seconds = share * all;
    const Result<Found> f = search(graph, c, s);
    REQUIRE(f.ok());
    if (!f->ended_early) continue;
    ++ended;
    CAPTURE(share, f->best.size());
    CHECK(f->reason.starts_with("the time limit"));
  }
  CHECK(ended > 0);
}
