// Few layers for all: predictions of the whole model are the oracle.
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "planner/search/stages/probe.h"
#include "tests/planner/search/stages/samples.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::stages;
using planscope::testing::ModelBuilder;
using planscope::testing::shape_of;
using planscope::testing::transformer;
using planscope::testing::TransformerSizes;

namespace {

// Large enough for its operators to take longer than a launch.
TransformerSizes sizes(std::int64_t layers) {
  TransformerSizes s;
  s.seq = 128;
  s.hidden = 256;
  s.ffn = 1024;
  s.vocab = 2048;
  s.layers = layers;
  return s;
}

std::vector<TransformerSizes> kinds_of_models(std::int64_t layers) {
  std::vector<TransformerSizes> out(6, sizes(layers));
  out[1].tied = out[1].positions = true;
  out[2].gated = out[2].causal = true;
  out[3].parallel = true;
  out[4].experts = 4;
  out[5].dropout = 0.1;
  return out;
}

// A chain of linear layers; all_read: what each makes is added up at the end.
Graph chain(int layers, bool all_read) {
  ModelBuilder b;
  ValueId x = b.linear("first", b.input("input_ids", {8, 16, 32}), 64, true), sum = x;
  for (int i = 0; i < layers; ++i) {
    x = b.linear("layers." + std::to_string(i), x, 64, true);
    if (all_read) sum = b.add("heads", sum, x);
  }
  const ValueId labels = b.input("labels", {8, 16}, DType::i64);
  return b.graph(b.cross_entropy(b.linear("head", all_read ? sum : x, 96, true), labels));
}

}  // namespace

TEST_CASE("runs of equal layers are found, with their period") {
  const auto runs = [](const Graph& g) { return equal_layers(g, shape_of(g)); };
  CHECK(runs(transformer(sizes(16))) == std::vector<LayerRun>{{0, 1, 16}});
  TransformerSizes turns = sizes(16);  // experts in every second layer
  turns.experts = 4;
  CHECK(runs(transformer(turns)) == std::vector<LayerRun>{{0, 2, 8}});
  CHECK(runs(transformer(sizes(2))).empty());
  CHECK(runs(chain(16, false)) == std::vector<LayerRun>{{0, 1, 16}});
}

TEST_CASE("layers of which something else reads the results, or that add to one gradient, are no run") {
  const Graph read = chain(16, true);
  CHECK(equal_layers(read, shape_of(read)).empty());
  TransformerSizes biased = sizes(16);
  biased.biased = true;
  const Graph g = transformer(biased);
  CHECK(equal_layers(g, shape_of(g)).empty());
}

TEST_CASE("a model with fewer layers is that model with fewer layers") {
  for (const TransformerSizes& of : kinds_of_models(24)) {
    const Graph all = transformer(of);
    const ModelShape shape = shape_of(all);
    const std::vector<LayerRun> runs = equal_layers(all, shape);
    REQUIRE(runs.size() == 1);
    TransformerSizes short_one = of;
    short_one.layers = 4 * runs[0].period;
    const Graph expected = transformer(short_one);
    const Result<FewerLayers> few = fewer_layers(all, shape, runs, {4});
    REQUIRE(few.ok());
    REQUIRE(few->graph.ops.size() == expected.ops.size());
    for (std::size_t o = 0; o < expected.ops.size(); ++o) {
      CHECK(describe(few->graph, static_cast<OpId>(o)) == describe(expected, static_cast<OpId>(o)));
      CHECK(few->graph.ops[o].flops == expected.ops[o].flops);
      CHECK(few->graph.ops[o].inputs == expected.ops[o].inputs);
    }
    CHECK(few->shape.unit_count() == 4 * runs[0].period);
    REQUIRE(few->like.size() == 24);
    for (std::size_t l = 0; l < few->like.size(); ++l)
      CHECK(few->like[l] % runs[0].period == static_cast<int>(l) % runs[0].period);
    int parameters = 0;
    for (const Parameter& p : few->graph.parameters) parameters += p.stands_for;
    CHECK(parameters == static_cast<int>(all.parameters.size()));
  }
}

TEST_CASE("few layers tell what all layers take and keep", "[slow]") {
  const Result<Cluster> c = read_cluster("dgx-a100x1");
  REQUIRE(c.ok());
  MaterializeCache cache;
  const std::vector<TransformerSizes> models = kinds_of_models(24);
  for (const TransformerSizes& of : models) {
    const Graph graph = transformer(of);
    const ModelShape shape = shape_of(graph);
    const ProbeModels few(graph, shape), all(graph, shape, true);
    REQUIRE(few.suffice({}));
    REQUIRE(!all.suffice({}));
    for (const ProbeKey& key : std::vector<ProbeKey>{{1, 1},
                                                     {2, 4, true},
                                                     {4, 2, true, true},
                                                     {2, 1, false, false, true},
                                                     {1, 4, false, true, true},
                                                     {2, 2, true, false, false, {}, 1, 2},
                                                     {1, 2, false, false, false, {}, 1, 1, 4}}) {
      const Result<Probe> a = probe(few, *c, key, {}, cache), b = probe(all, *c, key, {}, cache);
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      REQUIRE(a->layers.size() == b->layers.size());
      for (std::size_t i = 0; i < b->layers.size(); ++i) {
        const LayerCost &x = a->layers[i], &y = b->layers[i];
        INFO("layer " << i << ", model " << &of - models.data() << ", " << probe_script(shape, key));
        CHECK(x.forward_ns == y.forward_ns);
        CHECK(x.backward_ns == y.backward_ns);
        CHECK(x.kept_bytes == y.kept_bytes);
        CHECK(x.working_bytes == y.working_bytes);
        CHECK(x.parameter_bytes == y.parameter_bytes);
        CHECK(x.constant_bytes == y.constant_bytes);
      }
      CHECK(a->everywhere.forward_ns == b->everywhere.forward_ns);
      for (const bool borders : {false, true}) {
        const Result<std::int64_t> x = micro_batch_ns(few, *c, key, {}, cache, borders);
        const Result<std::int64_t> y = micro_batch_ns(all, *c, key, {}, cache, borders);
        REQUIRE(x.ok());
        REQUIRE(y.ok());
        CHECK(static_cast<double>(*x) == Approx(static_cast<double>(*y)).epsilon(1e-5));
      }
    }
  }
}

// What layers in pieces gather is there as long as others work: layers take more the more there are.
TEST_CASE("some layers tell what all take that gather their parameters, or all are looked at", "[slow]") {
  int told = 0, all_looked_at = 0;
  for (const char* name : {"dgx-a100x1", "dgx1-v100x4"}) {
    const Result<Cluster> c = read_cluster(name);
    REQUIRE(c.ok());
    MaterializeCache cache;
    for (const TransformerSizes& of : kinds_of_models(60)) {
      const Graph graph = transformer(of);
      const ModelShape shape = shape_of(graph);
      const ProbeModels few(graph, shape), all(graph, shape, true);
      for (const std::int64_t pieces : {0, 1, 2})
        for (const bool prefetch : {true, false})
          for (const std::int64_t tensor : {1, 2}) {
            ProbeKey key{tensor, 2, false, pieces > 0};
            key.coshard = std::max<std::int64_t>(1, pieces);
            key.data = c->device_count() / tensor;
            key.prefetch = prefetch;
            const Result<Probe> a = probe(few, *c, key, {}, cache), b = probe(all, *c, key, {}, cache);
            CHECK(a.ok() == b.ok());
            if (!b.ok()) continue;
            REQUIRE(a->layers.size() == b->layers.size());
            INFO(name << ", " << probe_script(shape, key));
            LayerCost x, y;  // times and what is kept: of all layers; at work: most of any
            for (std::size_t i = 0; i < b->layers.size(); ++i)
              for (const auto& [of_all, l] : {std::pair(&x, &a->layers[i]), std::pair(&y, &b->layers[i])}) {
                of_all->forward_ns += l->forward_ns;
                of_all->backward_ns += l->backward_ns;
                of_all->kept_bytes += l->kept_bytes;
                of_all->working_bytes = std::max(of_all->working_bytes, l->working_bytes);
              }
            const auto near = [](std::int64_t of_few, std::int64_t of_all) {
              return static_cast<double>(of_few) == Approx(static_cast<double>(of_all)).epsilon(5e-3);
            };
            CHECK(near(x.forward_ns, y.forward_ns));
            CHECK(near(x.backward_ns, y.backward_ns));
            CHECK(near(x.kept_bytes, y.kept_bytes));
            CHECK(near(x.working_bytes, y.working_bytes));
            const Result<Probe> some =
                probe(ProbeModels(few.some()->model.graph, few.some()->model.shape, true), *c, key, {}, cache);
            REQUIRE(some.ok());
            ++(some->layers[2].working_bytes == a->layers[30].working_bytes ? told : all_looked_at);
          }
    }
  }
  CHECK(told > 20);
  CHECK(all_looked_at > 10);
}

TEST_CASE("a micro-batch takes what a step of one more takes longer") {
  const Result<Cluster> c = read_cluster("dgx-a100x1");
  REQUIRE(c.ok());
  MaterializeCache cache;
  const std::vector<TransformerSizes> models = kinds_of_models(6);
  for (const TransformerSizes& of : models) {
    const Graph graph = transformer(of);
    const ModelShape shape = shape_of(graph);
    const ProbeModels all(graph, shape, true);
    for (const ProbeKey& key : std::vector<ProbeKey>{{1, 1}, {2, 4, true}, {4, 2, true, true}})
      for (const bool borders : {false, true}) {
        const auto step = [&](std::int64_t micro_batches) {
          const std::string text =
              borders ? probe_script(shape, key, micro_batches) : whole_script(shape, key, micro_batches);
          const Result<Materialized> made = materialize(graph, *plan::parse_plan(text), *c, {}, &cache);
          REQUIRE(made.ok());
          return simulate(*made->graph, made->program, *c)->step_ns;
        };
        const Result<std::int64_t> takes = micro_batch_ns(all, *c, key, {}, cache, borders);
        REQUIRE(takes.ok());
        INFO("model " << &of - models.data() << ", borders " << borders << "\n" << probe_script(shape, key));
        CHECK(*takes == step(4) - step(3));
      }
  }
}

TEST_CASE("lines that tell layers apart ask for all of them") {
  const Graph graph = transformer(sizes(16));
  const ProbeModels models(graph, shape_of(graph));
  CHECK(models.suffice({"trans layers[*].mlp.up out by tensor", "trans lm_head out by tensor"}));
  CHECK(!models.suffice({"trans layers[0:4].mlp.up out by tensor"}));
  CHECK(!models.suffice({"trans layers.3.mlp.up out by tensor"}));
}
