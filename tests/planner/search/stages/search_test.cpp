// Whole plans from nothing: against every point with equal stages made and predicted by itself.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/search/stages/probe.h"
#include "planner/search/stages/stages.h"
#include "planner/verify/verify.h"
#include "tests/planner/search/stages/samples.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::stages;
using namespace planscope::testing;

namespace {

// One node of each of two kinds, with so many devices.
Cluster halves(const std::string& name, int devices) {
  Cluster c = cluster(name);
  c.levels[0].arity = devices;
  c.kinds[1].first = devices;
  return c;
}

void check_equivalent(const Graph& graph, const Cluster& c, const Found& f) {
  for (const Candidate& best : f.best) {
    const Result<plan::Plan> p = plan::parse_plan(best.script, "");
    REQUIRE(p.ok());
    const Result<Materialized> m = materialize(graph, *p, c);
    INFO(best.script << to_string(m.diagnostics));
    REQUIRE(m.ok());
    CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent);
    CHECK(simulate(*m->graph, m->program, c)->step_us() == Approx(best.step_us));
    CHECK(best.bound_us <= best.step_us);
  }
}

}  // namespace

TEST_CASE("no point with equal stages beats the plan that is found, and none is below the bound", "[slow]") {
  for (const char* name : {"gpt2_tiny", "llama_tiny"}) {
    const Graph graph = sample(name);
    const Cluster c = cluster("dgx2-v100x1");
    const Result<Found> f = search(graph, c, {.global_batch = 32});
    REQUIRE(f.ok());
    REQUIRE(f->outcome == Outcome::found);
    REQUIRE(f->best[0].configuration.devices() == 16);
    MaterializeCache cache;
    const ModelShape shape = shape_of(graph);
    int made = 0;
    for (std::int64_t pipe : {1, 2, 4})
      for (std::int64_t tensor : {1, 2, 4})
        for (std::int64_t mb : {1, 2, 4})
          for (int kind = 0; kind < (tensor > 1 ? 4 : 2); ++kind) {
            const std::int64_t data = 16 / pipe / tensor;
            if (32 % (data * mb) != 0 || (pipe > 1 && mb == 1)) continue;
            Configuration point{pipe, data, tensor, mb, 32 / data / mb, kind > 1, kind % 2, {}, {}};
            point.stages.assign(static_cast<std::size_t>(pipe), shape.unit_count() / static_cast<int>(pipe));
            point.recompute.assign(point.stages.size(), 0);
            const Result<plan::Plan> p = plan::parse_plan(script(shape, point), "");
            REQUIRE(p.ok());
            const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
            if (!m.ok()) continue;  // heads that three devices cannot share
            const Result<Simulation> s = simulate(*m->graph, m->program, c);
            REQUIRE(s.ok());
            ++made;
            INFO(name << " " << point.name());
            CHECK(s->step_us() >= f->best[0].step_us);
            CHECK(s->step_us() >= f->lower_bound_us);
          }
    CHECK(made > 10);
  }
}

TEST_CASE("what is found is the model's own computation", "[slow]") {
  for (const char* name :
       {"gpt2_tiny", "llama_tiny", "t5_tiny", "mixtral_tiny", "swin_tiny", "bert_tiny", "evoformer_tiny"}) {
    const Graph graph = sample(name);
    const Cluster c = cluster("dgx-a100x1");
    INFO(name);
    const Result<Found> f = search(graph, c, {.global_batch = 16});
    REQUIRE(f.ok());
    REQUIRE(f->outcome == Outcome::found);
    for (const Candidate& best : f->best) {
      const Result<plan::Plan> p = plan::parse_plan(best.script, "");
      REQUIRE(p.ok());
      const Result<Materialized> m = materialize(graph, *p, c);
      REQUIRE(m.ok());
      INFO(best.script);
      CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent);
    }
  }
}

TEST_CASE("slower devices get fewer layers, and that is faster than equal stages", "[slow]") {
  const Graph graph = sample("llama3_8b");
  for (const char* name : {"dgx-h100x1+dgx1-v100x1", "dgx1-v100x1+dgx-h100x1"}) {
    const Cluster c = halves(name, 2);
    const Result<Found> f = search(graph, c, {.global_batch = 32, .templates = {false, false, false}});
    REQUIRE(f.ok());
    REQUIRE(f->outcome == Outcome::found);
    const Candidate& best = f->best[0];
    INFO(name << "\n" << best.script);
    REQUIRE(best.configuration.pipe > 1);
    CHECK(best.bound_us <= best.step_us);
    CHECK(f->lower_bound_us <= best.step_us);
    int on_fast = 0;
    for (std::size_t s = 0; s < best.configuration.stages.size(); ++s) {
      const std::int64_t place = best.configuration.place(static_cast<std::int64_t>(s));
      if (c.device(place * 4 / best.configuration.pipe).name.starts_with("H100"))
        on_fast += best.configuration.stages[s];
    }
    CHECK(on_fast > 20);
    MaterializeCache cache;
    const ModelShape shape = shape_of(graph);
    const auto simulated = [&](const Configuration& point) {
      const Result<plan::Plan> p = plan::parse_plan(script(shape, point), "");
      const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
      REQUIRE(m.ok());
      return *simulate(*m->graph, m->program, c);
    };
    const Simulation found = simulated(best.configuration);
    CHECK(found.step_us() == Approx(best.step_us));
    for (const ClassTimeline& t : found.classes) CHECK(t.peak.bytes() <= t.capacity.count);
    Configuration even = best.configuration;
    for (int& n : even.stages) n = shape.unit_count() / static_cast<int>(even.pipe);
    for (int& n : even.recompute) n = 0;
    CHECK(simulated(even).step_us() > 1.2 * best.step_us);
  }
}

TEST_CASE("a search finds the same every time, whichever of its threads comes first", "[slow]") {
  const Graph graph = sample("gpt2_124m");
  const Cluster c = planscope::testing::cluster("dgx-a100x2");
  const auto told = [](const Found& f) {
    std::string out = std::to_string(f.points) + " points, " + std::to_string(f.simulated) + " plans, bound " +
                      std::to_string(f.lower_bound_us) + "\n";
    for (const Candidate& best : f.best)
      out += std::to_string(best.step_us) + " of " + std::to_string(best.bound_us) + "\n" + best.script;
    return out;
  };
  std::string first;
  for (int i = 0; i < 3; ++i) {
    const Result<Found> f = search(graph, c, {.global_batch = 64, .seconds = 600});
    REQUIRE(f.ok());
    REQUIRE(f->outcome == Outcome::found);
    REQUIRE(!f->ended_early);
    if (i == 0) first = told(*f);
    CHECK(told(*f) == first);
  }
}

TEST_CASE("no plan on devices of two kinds is below the bound, and no equal stages beat what is found") {
  const Graph graph = sample("llama_tiny");
  const Cluster c = halves("dgx-h100x1+dgx1-v100x1", 4);
  const Result<Found> f = search(graph, c, {.global_batch = 32});
  REQUIRE(f.ok());
  REQUIRE(f->outcome == Outcome::found);
  MaterializeCache cache;
  const ModelShape shape = shape_of(graph);
  int made = 0;
  for (std::int64_t pipe : {1, 2, 4})
    for (std::int64_t tensor : {1, 2, 4})
      for (std::int64_t mb : {1, 2, 4, 8})
        for (const std::vector<int>& stages : {std::vector<int>{4}, {2, 2}, {3, 1}, {1, 3}, {1, 1, 1, 1}}) {
          const std::int64_t data = 8 / pipe / tensor;
          if (stages.size() != static_cast<std::size_t>(pipe) || data < 1 || (pipe > 1 && mb == 1)) continue;
          Configuration point{pipe, data, tensor, mb, 32 / data / mb, tensor > 1, 0, stages, {}};
          point.recompute.assign(stages.size(), 0);
          const Result<plan::Plan> p = plan::parse_plan(script(shape, point), "");
          const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
          if (!m.ok()) continue;
          const Result<Simulation> s = simulate(*m->graph, m->program, c);
          REQUIRE(s.ok());
          ++made;
          INFO(point.name());
          CHECK(s->step_us() >= f->best[0].step_us);
          CHECK(s->step_us() >= f->lower_bound_us);
        }
  CHECK(made > 10);
  for (const Candidate& best : f->best) {
    INFO(best.script);
    CHECK(best.bound_us <= best.step_us);
    const Result<plan::Plan> p = plan::parse_plan(best.script, "");
    const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
    REQUIRE(m.ok());
    CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent);
  }
}

TEST_CASE("of devices of two kinds it is the smaller that limits, and what is short is said of it") {
  const Graph graph = testing::transformer(
      {.batch = 8, .seq = 256, .hidden = 256, .heads = 4, .kv_heads = 4, .ffn = 1024, .vocab = 1000, .layers = 8});
  Cluster c = halves("dgx-a100x1+dgx1-v100x1", 1);
  Settings s{.global_batch = 16, .templates = {false, false, false}};
  s.rows = rows("require |pipe| = 2\n");
  const auto last_stage = [&] {
    const Result<Found> f = search(graph, c, s);
    REQUIRE(f->outcome == Outcome::found);
    const Candidate& best = f->best[0];
    const std::int64_t bytes = best.peak_bytes[1];  // by device class, in the order of devices
    CHECK(bytes <= c.device(1).memory.count);
    return std::pair(best.configuration.stages[static_cast<std::size_t>(best.configuration.place(1))], bytes);
  };
  const auto [layers, bytes] = last_stage();
  c.kinds[1].type.memory = {bytes / 3};
  CHECK(last_stage().first < layers);
  c.kinds[1].type.memory = {std::int64_t{1} << 20};
  s.rows.clear();
  const Result<Found> none = search(graph, c, s);
  CHECK(none->outcome == Outcome::impossible);
  CHECK(none->least_bytes > c.device(1).memory.count);
  CHECK(none->reason.starts_with("every plan of the space needs at least "));
  CHECK(none->reason.ends_with(" more than some device has"));
  c.kinds[1].type.memory = {none->least_bytes * 11 / 10};
  CHECK(search(graph, c, s)->outcome == Outcome::found);
}

TEST_CASE("what no device can hold is said in bytes", "[slow]") {
  const Graph graph = sample("llama3_8b");
  Cluster c = cluster("dgx-a100x1");
  c.kinds[0].type.memory = {std::int64_t{4} << 30};
  const Result<Found> none = search(graph, c, {.global_batch = 16});
  REQUIRE(none.ok());
  CHECK(none->outcome == Outcome::impossible);
  CHECK(none->least_bytes > c.kinds[0].type.memory.count);
  c.kinds[0].type.memory = {none->least_bytes * 11 / 10};
  CHECK(search(graph, c, {.global_batch = 16})->outcome == Outcome::found);
}

TEST_CASE("no layer that goes to the next stage makes the best plan shorter, whatever passes between stages", "[slow]") {
  const Graph graph = sample("t5_tiny");
  Cluster c = cluster("dgx-a100x2");
  c.levels[0].arity = 2;
  c.levels[1].latency.count = 100;
  c.levels[1].bandwidth = 3.4e10;
  c.kinds[0].type.memory.count = 3'900'000;
  const ModelShape shape = shape_of(graph);
  int others = 0;
  for (const std::int64_t batch : {12, 16}) {
    const Result<Found> f = search(graph, c, {.global_batch = batch, .templates = {false, false, false}});
    REQUIRE(f.ok());
    REQUIRE(f->outcome == Outcome::found);
    const Candidate& best = f->best[0];
    INFO(best.script);
    CHECK(predicted(graph, c, best.script).step_us() == Approx(best.step_us));
    for (std::size_t s = 0; s + 1 < best.configuration.stages.size(); ++s)
      for (const int more : {1, -1}) {
        Configuration other = best.configuration;
        other.stages[s] += more;
        other.stages[s + 1] -= more;
        if (other.stages[s] < 1 || other.stages[s + 1] < 1) continue;
        ++others;
        CHECK(predicted(graph, c, script(shape, other)).step_us() >= best.step_us);
      }
  }
  CHECK(others > 0);
}

TEST_CASE("a batch that cannot be divided over all devices leaves some idle, and that is told", "[slow]") {
  const Graph graph = sample("gpt2_tiny");
  const Result<Found> f = search(graph, cluster("dgx2-v100x16"), {.global_batch = 7});
  REQUIRE(f.ok());
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].configuration.devices() < 256);
  REQUIRE(f.diagnostics.size() == 1);
  CHECK(f.diagnostics[0].why ==
        "a batch of 7 cannot be divided over 256 devices, with at most 16 for a tensor-parallel group and 4 stages");
  CHECK(f->lower_bound_us <= f->best[0].step_us);
  // Devices that are left idle could have been left out of the cluster.
  const Result<Found> alone = search(graph, cluster("dgx2-v100x1"), {.global_batch = 7});
  REQUIRE(alone->outcome == Outcome::found);
  CHECK(f->best[0].step_us <= alone->best[0].step_us);
}

TEST_CASE("a batch of any size is searched for, among as many micro-batches as can be played", "[slow]") {
  const Graph graph = sample("gpt2_tiny");
  for (const std::int64_t batch : {100'000'007LL, 1LL << 40}) {
    const Result<Found> f = search(graph, cluster("dgx-h100x2"), {.global_batch = batch, .seconds = 0.5});
    REQUIRE(f.ok());
    for (const Candidate& c : f->best) CHECK(c.configuration.micro_batches <= 1 << 14);
  }
}

TEST_CASE("a batch may be one micro-batch, however large") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-h100x1");
  const Result<Found> f = search(graph, c, {.global_batch = 1024});
  REQUIRE(f->outcome == Outcome::found);
  const double own = predicted(graph, c, "devices 8 as data=8\nmodel batch=1024\ntrans * batch by data\n").step_us();
  CHECK(f->lower_bound_us <= own);
  CHECK(f->best[0].step_us <= own);
}

TEST_CASE("one micro-batch may pass several stages that split no sequence") {
  const Graph graph = sample("gpt2_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 4;
  c.levels[0].latency.count = 30;
  c.levels[0].bandwidth = 2.5e10;
  Settings s{.global_batch = 4, .templates = {false, false, false}};
  s.rows = rows("require |tensor| = 2\nrequire |pipe| = 2\nrequire |mb| = 1\n");
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  const ModelShape shape = shape_of(graph);
  for (const bool sequence : {true, false})
    for (int first = 1; first < shape.unit_count(); ++first) {
      Configuration other{2, 1, 2, 1, 4, sequence, 0, {first, shape.unit_count() - first}, {0, 0}};
      INFO(sequence << " " << first);
      CHECK(predicted(graph, c, script(shape, other)).step_us() >= f->best[0].step_us);
    }
}

TEST_CASE("one micro-batch may pass several stages") {
  Cluster c = cluster("localx4");
  c.levels = {{"alone", 1, {1}, 1e9, 1}, {"network", 4, {1}, 1e9, 1}};
  c.kinds[0].type.memory = {800'000};
  const Graph graph = sample("gpt2_tiny");
  const Result<Found> f = search(graph, c, {.global_batch = 1});
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].configuration.pipe == 4);
  CHECK(f->best[0].configuration.micro_batches == 1);
  CHECK(predicted(graph, c, f->best[0].script).step_us() == f->best[0].step_us);
}

TEST_CASE("what is said of a space that was not looked at to its end holds of all of it") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-a100x1");
  const Result<Found> all = search(graph, c, {.global_batch = 64});
  const Result<Found> some = search(graph, c, {.global_batch = 64, .seconds = 1e-6});
  REQUIRE(all->outcome == Outcome::found);
  CHECK(some->ended_early);
  CHECK(some->points < all->points);
  CHECK(some->lower_bound_us > 0);
  CHECK(some->lower_bound_us <= all->best[0].step_us);
}

TEST_CASE("a limit that is too short leaves the first plan") {
  const LookedAtClock clock;
  Settings s{.global_batch = 16, .seconds = 1e-6};
  s.clock = &clock;
  const Result<Found> f = search(sample("gpt2_tiny"), cluster("dgx-a100x1"), s);
  REQUIRE(f.ok());
  CHECK(f->ended_early);
  CHECK(!f->best.empty());
}

TEST_CASE("an interrupt leaves a plan") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-a100x8");
  const Result<Found> whole = search(graph, c, {.global_batch = 64});
  std::atomic<bool> stop{false};
  Settings s{.global_batch = 64};
  s.stop = &stop;
  s.progress = [&](double, double) { stop = true; };
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f.ok());
  REQUIRE(!f->best.empty());
  CHECK(f->best[0].step_us >= whole->best[0].step_us);
  CHECK(f->lower_bound_us <= whole->best[0].step_us);
  check_equivalent(graph, c, *f);
}

TEST_CASE("the progress of a search is monotonic: steps only fall, bounds only rise, to the result", "[slow]") {
  const auto [model, devices, batch] = GENERATE(table<std::string, std::string, std::int64_t>(
      {{"gpt2_tiny", "dgx-a100x1", 1}, {"llama_tiny", "dgx-a100x1", 3}, {"deepseek_tiny", "dgx-h100x2", 1}, {"mixtral_tiny", "dgx-a100x2", 64}}));
  double step_us = std::numeric_limits<double>::infinity(), bound_us = 0;
  Settings s{.global_batch = batch};
  s.progress = [&](double step, double bound) {
    CHECK(step <= step_us);
    CHECK((step < step_us || bound > bound_us));
    CHECK(bound <= step);
    CHECK(bound > 0);
    CHECK(bound >= bound_us * (1 - 1e-9));
    step_us = step, bound_us = std::max(bound_us, bound);
  };
  const Result<Found> f = search(sample(model), cluster(devices), s);
  INFO(model << " " << batch);
  REQUIRE(f.ok());
  REQUIRE(!f->best.empty());
  CHECK(f->best[0].step_us <= step_us);
  CHECK(f->lower_bound_us >= bound_us * (1 - 1e-9));
}

// What is measured by then takes little of a step, and not so little memory.
TEST_CASE("a limit that is too short leaves a plan where the shortest do not fit") {
  const auto [name, shares] =
      GENERATE(table<std::string, std::vector<double>>({{"llama_tiny", {0.5, 0.4}}, {"mixtral_tiny", {0.6, 0.5}}}));
  const Graph graph = sample(name);
  const Cluster c = cluster("localx4");
  const std::vector<std::int64_t> peaks = search(graph, c, {.global_batch = 16})->best[0].peak_bytes;
  const std::int64_t peak = *std::max_element(peaks.begin(), peaks.end());
  for (const double share : shares) {
    const auto limit = static_cast<std::int64_t>(share * static_cast<double>(peak));
    const LookedAtClock clock;
    Settings s{.global_batch = 16, .seconds = 1e-6};
    s.clock = &clock;
    s.rows = rows("require memory(all) <= " + std::to_string(limit) + "\n");
    const Result<Found> f = search(graph, c, s);
    INFO(name << " " << share);
    REQUIRE(f.ok());
    CHECK(f->ended_early);
    REQUIRE(!f->best.empty());
    for (const std::int64_t bytes : f->best[0].peak_bytes) CHECK(bytes <= limit);
    CHECK(f->lower_bound_us <= f->best[0].step_us);
    check_equivalent(graph, c, *f);
  }
}

TEST_CASE("a limit ends the search, and says so") {
  const Result<Found> f = search(sample("gpt2_tiny"), cluster("dgx-a100x1"), {.global_batch = 16, .seconds = 0});
  REQUIRE(f.ok());
  CHECK(f->outcome == Outcome::unknown);
}

TEST_CASE("a model whose modules have names of their own is tensor parallel") {
  const Graph graph = testing::transformer(
      {.batch = 1, .seq = 2048, .hidden = 2048, .heads = 16, .kv_heads = 16, .ffn = 8192, .vocab = 32000, .layers = 3});
  const Cluster c = cluster("dgx-h100x1");
  const Result<Found> f = search(graph, c, {.global_batch = 1});
  REQUIRE(f.ok());
  REQUIRE(f->outcome == Outcome::found);
  const Candidate& best = f->best[0];
  CHECK(best.configuration.tensor == 8);
  CHECK(best.script.find("use tp(") != std::string::npos);
  const Result<plan::Plan> p = plan::parse_plan(best.script, "");
  REQUIRE(p.ok());
  const Result<Materialized> m = materialize(graph, *p, c);
  REQUIRE(m.ok());
  CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent);
  const Result<plan::Plan> alone = plan::parse_plan("devices 1\n", "");
  const Result<Materialized> one = materialize(graph, *alone, c);
  REQUIRE(one.ok());
  CHECK(best.step_us < 0.5 * simulate(*one->graph, one->program, c)->step_us());
}

TEST_CASE("a vocabulary that no stage can hold is on all of them, where that is allowed") {
  const Graph graph = testing::transformer(
      {.batch = 8, .seq = 16, .hidden = 64, .heads = 4, .kv_heads = 4, .ffn = 128, .vocab = 32000, .layers = 4});
  Cluster c = cluster("dgx1-v100x1");
  c.levels[0].arity = 4;
  c.kinds[0].type.memory = {std::int64_t{30} << 20};
  Settings s;
  s.global_batch = 32;
  s.rows = rows("require |pipe| = 4\n");
  s.templates.interlaced = false;
  CHECK(search(graph, c, s)->outcome == Outcome::impossible);
  s.templates.interlaced = true;
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].configuration.interlaced);
  CHECK_FALSE(f->best[0].configuration.chains.empty());
  for (std::int64_t bytes : f->best[0].peak_bytes) CHECK(bytes <= c.kinds[0].type.memory.count);
  check_equivalent(graph, c, *f);
}

TEST_CASE("repeated calls take another order than 1F1B, where that is allowed", "[slow]") {
  const Graph graph = sample("evoformer_tiny");
  const Cluster c = cluster("dgx2-v100x1");
  Settings s;
  s.global_batch = 64;
  s.seconds = 3600;  // it ends by itself
  s.rows = rows("require |pipe| = 4\nrequire |data| = 1\nrequire |tensor| = 4\nrequire |mb| = 16\n");
  s.templates.three_f1b = false;
  const Result<Found> usual = search(graph, c, s);
  REQUIRE(usual->outcome == Outcome::found);
  CHECK(usual->best[0].configuration.order == Order::one_f_one_b);
  s.templates.three_f1b = true;
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].configuration.order != Order::one_f_one_b);
  CHECK(f->best[0].step_us < 0.8 * usual->best[0].step_us);
  check_equivalent(graph, c, *f);
}

TEST_CASE("layers in pieces are the model's own computation, and keep less at work") {
  const Cluster c = cluster("dgx1-v100x1");
  for (const char* name : {"llama_tiny", "gpt2_tiny", "swin_tiny", "bert_tiny", "t5_tiny"}) {
    const Graph graph = sample(name);
    MaterializeCache cache;
    const ModelShape shape = shape_of(graph);
    Configuration point{2, 1, 1, 4, 2, false, 0, {}, {}};
    point.stages.assign(2, shape.unit_count() / 2);
    point.recompute = {1, 1};
    point.coshard = 2;
    const Result<plan::Plan> p = plan::parse_plan(script(shape, point), "");
    REQUIRE(p.ok());
    const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
    INFO(script(shape, point) << to_string(m.diagnostics));
    REQUIRE(m.ok());
    CHECK(verify(*m->graph, m->program).verdict == Verdict::equivalent);
    const auto working = [&](std::int64_t pieces) {
      const Result<Probe> found =
          probe(ProbeModels(graph, shape), c, {1, 8, false, true, false, {}, pieces}, {}, cache);
      INFO(to_string(found.diagnostics));
      REQUIRE(found.ok());
      return found->layers[1].working_bytes;
    };
    CHECK(working(2) < working(1));
  }
}

TEST_CASE("layers are offloaded where that takes less than computing them again, and no such plan takes less", "[slow]") {
  int offloaded = 0;
  for (const char* name : {"llama_tiny", "gpt2_tiny", "t5_tiny", "swin_tiny"}) {
    const Graph graph = sample(name);
    Cluster c = cluster("dgx-a100x1");
    c.levels[0].arity = 2;
    Settings s{.global_batch = 64};
    s.rows = rows("require |pipe| = 1\nrequire |tensor| = 1\nrequire |mb| = 4\n");
    const Result<Found> free = search(graph, c, s);
    REQUIRE(free->outcome == Outcome::found);
    c.kinds[0].type.memory = Bytes{free->best[0].peak_bytes[0] * 3 / 4};
    for (const double rate : {1e9, 8e9, 64e9, 1e12}) {
      c.host = {Bytes{std::int64_t{1} << 30}, Microseconds{0.1}, rate};
      const Result<Found> f = search(graph, c, s);
      INFO(name << " " << rate);
      REQUIRE(f->outcome == Outcome::found);
      CHECK(f->best[0].peak_bytes[0] <= c.kinds[0].type.memory.count);
      check_equivalent(graph, c, *f);
      if (rate == 1e12 && f->best[0].configuration.offload) ++offloaded;
      MaterializeCache cache;
      const ModelShape shape = shape_of(graph);
      Configuration point = f->best[0].configuration;
      point.stages = {shape.unit_count()};
      for (const int zero : {0, 1, 2, 3})
        for (const bool offload : {false, true})
          for (int again = 0; again <= shape.unit_count(); ++again) {
            point.zero = zero;
            point.offload = offload;
            point.recompute = {again};
            const Result<plan::Plan> p = plan::parse_plan(script(shape, point), "");
            REQUIRE(p.ok());
            const Result<Materialized> m = materialize(graph, *p, c, {}, &cache);
            INFO(script(shape, point) << to_string(m.diagnostics));
            REQUIRE(m.ok());
            const Result<Simulation> played = simulate(*m->graph, m->program, c);
            REQUIRE(played.ok());
            if (played->classes[0].peak.bytes() > c.kinds[0].type.memory.count) continue;
            CHECK(played->step_us() >= f->lower_bound_us * (1 - 1e-9));
            CHECK(played->step_us() >= f->best[0].step_us * 0.99);  // layers more or less
          }
    }
  }
  CHECK(offloaded >= 2);
}

TEST_CASE("what is computed once for all micro-batches is held, and counted") {
  const Graph graph = sample("swin_tiny");
  MaterializeCache cache;
  const ModelShape shape = shape_of(graph);
  const Result<Probe> found = probe(ProbeModels(graph, shape), cluster("dgx1-v100x1"), {1, 8}, {}, cache);
  REQUIRE(found.ok());
  // Every second layer has shifted windows of 4 x 4 patches, and a float32 mask of them: 16 x 16 patches, then 8 x 8. All have
  // the buffer of the patches' relative places, int64.
  std::vector<std::int64_t> held;
  for (const LayerCost& l : found->layers) held.push_back(l.constant_bytes);
  constexpr std::int64_t window = 16 * 16, places = window * 8;
  CHECK(held == std::vector<std::int64_t>{places, places + 16 * window * 4, places, places + 4 * window * 4});
}

TEST_CASE("layers of nested lists are those of the inner ones") {
  const Graph graph = sample("swin_tiny");
  const ModelShape shape = shape_of(graph);
  CHECK(shape.selection() == "swin.encoder.layers[*].blocks[*]");
  CHECK(shape.unit_count() == 4);
  CHECK(shape.layer_of("swin.encoder.layers.1.blocks.0.attention") == 2);
  CHECK(shape.layer_of("swin.encoder.layers.0.downsample") == -1);
  const Graph t5 = sample("t5_tiny");
  const ModelShape other = shape_of(t5);
  CHECK(other.selection() == "encoder.block[*], decoder.block[*]");
}

TEST_CASE("gradients are exchanged while backward goes on, where their exchange shows") {
  const Graph graph = sample("t5_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 2;
  c.levels[0].bandwidth = 2e9;
  const Result<Found> f = search(graph, c, {.global_batch = 8, .templates = {false, false, false}});
  REQUIRE(f->outcome == Outcome::found);
  const auto overlaps = [](const Candidate& k) { return k.configuration.overlap; };
  const auto candidate = std::find_if(f->best.begin(), f->best.end(), overlaps);
  REQUIRE(candidate != f->best.end());
  check_equivalent(graph, c, *f);
  Configuration without = candidate->configuration;
  without.overlap = false;
  CHECK(predicted(graph, c, script(shape_of(graph), without)).step_us() > candidate->step_us);
}

TEST_CASE("a vocabulary that takes longer when it is split stays whole") {
  const Graph graph = sample("mixtral_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 2;
  c.levels[0].latency.count = 20;
  Settings s{.global_batch = 4, .templates = {false, false, false}};
  s.rows = rows("require |tensor| = 2\n");
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  CHECK(!f->best[0].configuration.vocabulary);
  check_equivalent(graph, c, *f);
  Configuration split = f->best[0].configuration;
  split.vocabulary = true;
  CHECK(predicted(graph, c, script(shape_of(graph), split)).step_us() > f->best[0].step_us);
}
