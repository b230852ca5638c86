// Chosen splits against every plan of small graphs, materialized and simulated; what the lines mean; bounds and limits.
#include "planner/search/splits/choose.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/graph/import.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"
#include "tests/support/model_builder.h"

namespace planscope {
namespace {

using testing::ModelBuilder;

Cluster cluster_of(const std::string& name) {
  Result<Cluster> c = read_cluster(name);
  REQUIRE(c.ok());
  return *c;
}

struct Step {
  double us = 0;
  Verdict verdict = Verdict::unknown;
};

// Nothing: the plan is refused.
std::optional<Step> step_of(const Graph& g, const Cluster& cluster, const std::string& text) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return std::nullopt;
  const Result<Materialized> made = materialize(g, *plan, cluster);
  if (!made.ok()) return std::nullopt;
  const Result<Simulation> s = simulate(*made->graph, made->program, cluster);
  if (!s.ok()) return std::nullopt;
  return Step{s->step_us(), verify(*made->graph, made->program).verdict};
}

std::string text_of(const splits::LayoutSpec& spec, const std::vector<std::string>& lines) {
  std::string out = splits::devices_line(spec.axes);
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

// All ways to say `none`, a factor or nothing for each of some selections.
void each_plan(const std::vector<std::pair<std::string, std::vector<std::string>>>& words,
               const std::function<void(const std::string&)>& visit, std::size_t at = 0,
               const std::string& lines = "") {
  if (at == words.size()) return visit(lines);
  each_plan(words, visit, at + 1, lines);
  for (const std::string& w : words[at].second)
    each_plan(words, visit, at + 1, lines + "trans " + words[at].first + " " + w + " by tensor\n");
}

Graph two_products(std::int64_t batch, std::int64_t hidden, std::int64_t inner) {
  ModelBuilder b;
  const ValueId x = b.input("ids", {batch, 256}, DType::i64), labels = b.input("labels", {batch, 256}, DType::i64);
  const ValueId h = b.embedding("embed", x, 512, hidden);
  const ValueId up = b.linear("up", h, inner, false);
  const ValueId down = b.linear("down", b.gelu("act", up), hidden, false);
  const ValueId sum = b.add("residual", down, h);
  return b.graph(b.cross_entropy(b.linear("head", sum, 512, false), labels));
}

const std::vector<std::pair<std::string, std::vector<std::string>>> product_words = {
    {"embed", {"none", "vocab", "hidden", "batch", "seq"}},
    {"up", {"none", "out", "in", "batch", "seq"}},
    {"down", {"none", "out", "in", "batch", "seq"}},
    {"residual", {"none", "batch", "seq"}},
    {"head", {"none", "out", "in", "batch", "seq"}}};

}  // namespace

TEST_CASE("no plan of a small graph is cheaper", "[splits]") {
  Cluster cluster = cluster_of("dgx-h100x1");
  struct Case {
    std::int64_t batch, hidden, inner, devices;
    bool background;
  };
  for (const Case& c : {Case{1, 4096, 16384, 4, true}, Case{8, 1024, 4096, 2, true}, Case{2, 64, 64, 2, true},
                        Case{8, 1024, 4096, 2, false}, Case{1, 4096, 16384, 4, false}}) {
    cluster.background = c.background;
    const Graph g = two_products(c.batch, c.hidden, c.inner);
    const splits::LayoutSpec spec{.axes = {{"tensor", c.devices}}};
    const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
    REQUIRE(found.ok());
    CHECK(found->optimal);
    const auto own = step_of(g, cluster, text_of(spec, found->statements));
    REQUIRE(own);
    CHECK(own->verdict == Verdict::equivalent);
    std::string lines;
    for (const std::string& l : found->statements) lines += l + "\n";
    const Result<double> again = splits::cost_of_lines(g, cluster, spec, lines);
    REQUIRE(again.ok());
    CHECK(*again == Approx(found->cost_us));
    double least = own->us;
    int plans = 0;
    each_plan(product_words, [&](const std::string& other) {
      const auto step = step_of(g, cluster, splits::devices_line(spec.axes) + other);
      if (!step) return;
      ++plans;
      least = std::min(least, step->us);
    });
    CHECK(plans > 1000);
    INFO("batch " << c.batch << " hidden " << c.hidden << ": " << own->us << " of " << least);
    CHECK(own->us <= 1.01 * least);
  }
}

TEST_CASE("a limit ends the search for splits while the network is made, too", "[splits]") {
  const Graph g = two_products(2, 64, 256);
  const Cluster cluster = cluster_of("dgx-h100x1");
  int asked = 0, most = 0;
  splits::LayoutSpec spec{.axes = {{"tensor", 8}}};
  spec.ended = [&] { return ++asked, false; };
  REQUIRE(splits::Chooser::make(g, cluster, spec).ok());
  REQUIRE(asked > 2);
  std::swap(asked, most);
  for (int allowed = 0; allowed < most; ++allowed) {
    spec.ended = [&] { return ++asked > allowed; };
    asked = 0;
    Result<splits::Chooser> chooser = splits::Chooser::make(g, cluster, spec);
    REQUIRE(chooser.ok());
    CHECK(asked == allowed + 1);  // it is not asked again once it has said so
    const Result<splits::GraphLayout> found = chooser->choose();
    REQUIRE_FALSE(found.ok());
    CHECK(found.diagnostics.front().what == "no choice of splits was found in time");
    CHECK(chooser->none() == layouts::Outcome::unknown);
    CHECK_FALSE(chooser->cost_of("trans * batch by tensor\n").ok());
  }
}

// Splits of a head's dimension and of all outputs make gradients that are partial over the axis alike.
TEST_CASE("what is chosen for operators whose heads are cut can be said", "[splits]") {
  Result<Model> m = import_model("sample_models/swin_tiny.pt2");
  REQUIRE(m.ok());
  const Graph as_exported = *make_graph(std::make_shared<const Model>(std::move(*m.value))).value;
  const Result<Graph> resized = resize(as_exported, {{"batch", 1}});
  REQUIRE(resized.ok());
  const Graph& g = *resized;
  Cluster cluster = cluster_of("dgx-h100x1");
  cluster.kinds[0].type.flops = {{"float32", 1e9}};
  cluster.kinds[0].type.memory_bandwidth = 1e9;
  cluster.kinds[0].type.launch = Microseconds{0.5};
  cluster.levels[0].bandwidth = 1e8;
  cluster.levels[0].latency = Microseconds{5};
  const splits::LayoutSpec spec{.axes = {{"a", 8}}};
  const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
  INFO(to_string(found.diagnostics));
  REQUIRE(found.ok());
  const auto own = step_of(g, cluster, text_of(spec, found->statements));
  REQUIRE(own);
  CHECK(own->verdict == Verdict::equivalent);
}

TEST_CASE("a grid over devices of two kinds is as slow as the slower", "[splits]") {
  Cluster both = cluster_of("dgx-h100x1+dgx1-v100x1");
  both.levels[0].arity = 2;
  both.kinds[1].first = 2;
  const Graph g = two_products(2, 1024, 4096);
  const auto cost = [&](const Cluster& c, std::int64_t devices) {
    const Result<splits::GraphLayout> found = splits::choose_layouts(g, c, {.axes = {{"tensor", devices}}});
    REQUIRE(found.ok());
    return found->cost_us;
  };
  CHECK(cost(both, 2) == cost(both.of_kind(0), 2));
  CHECK(cost(both, 4) == cost(both.of_kind(1), 4));
  CHECK(cost(both, 4) > cost(both.of_kind(0), 4));
}

TEST_CASE("no plan of a small graph costs less than the network's bound", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = two_products(2, 1024, 4096);
  const splits::LayoutSpec spec{.axes = {{"tensor", 2}}};
  const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
  REQUIRE(found.ok());
  CHECK(found->lower_bound_us <= found->cost_us);
  int plans = 0;
  each_plan(product_words, [&](const std::string& lines) {
    if (plans > 400) return;
    const Result<double> cost = splits::cost_of_lines(g, cluster, spec, lines);
    if (!cost.ok()) return;
    ++plans;
    CHECK(*cost >= found->lower_bound_us * (1 - 1e-9));
  });
  CHECK(plans > 100);
}

TEST_CASE("a transformer's splits are no dearer than Megatron's", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  for (const bool gated : {false, true}) {
    const Graph g = testing::transformer({.batch = 1,
                                          .seq = 2048,
                                          .hidden = 2048,
                                          .heads = 16,
                                          .kv_heads = 16,
                                          .ffn = 8192,
                                          .vocab = 32000,
                                          .layers = 3,
                                          .bias = !gated,
                                          .causal = true,
                                          .gated = gated});
    const splits::LayoutSpec spec{.axes = {{"tensor", 4}}};
    const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
    REQUIRE(found.ok());
    const auto own = step_of(g, cluster, text_of(spec, found->statements));
    REQUIRE(own);
    CHECK(own->verdict == Verdict::equivalent);
    std::string megatron =
        "trans wte vocab by tensor\ntrans lm_head out by tensor\ntrans layers[*].attn.{q,k,v} out by tensor\n"
        "trans layers[*].attn.o in by tensor\ntrans layers[*].mlp.down in by tensor\n"
        "trans layers[*].mlp.up out by tensor\n";
    if (gated) megatron += "trans layers[*].mlp.gate out by tensor\n";
    const auto theirs = step_of(g, cluster, splits::devices_line(spec.axes) + megatron);
    const auto alone = step_of(g, cluster, splits::devices_line(spec.axes));
    REQUIRE(theirs);
    REQUIRE(alone);
    const Result<double> cost = splits::cost_of_lines(g, cluster, spec, megatron);
    REQUIRE(cost.ok());
    CHECK(found->cost_us <= *cost);
    CHECK(own->us <= 1.01 * theirs->us);
    CHECK(own->us < 0.5 * alone->us);
    CHECK(*cost == Approx(theirs->us).epsilon(0.05));  // what the network says of a plan is what is simulated
  }
}

TEST_CASE("equal layers are one kind, whatever their number", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const splits::LayoutSpec spec{.axes = {{"tensor", 2}}};
  const auto layers = [&](std::int64_t n) {
    const Graph g = testing::transformer({.batch = 2, .hidden = 256, .ffn = 1024, .layers = n});
    Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
    REQUIRE(found.ok());
    return *found;
  };
  const splits::GraphLayout few = layers(4), many = layers(20);
  CHECK(few.operator_kinds == many.operator_kinds);
  CHECK(few.pair_kinds == many.pair_kinds);
  CHECK(few.statements.size() == many.statements.size());
  CHECK(many.operators > 4 * few.operators);
}

TEST_CASE("a memory limit is kept, and costs time", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = two_products(8, 1024, 4096);
  // With many micro-batches replicas are cheapest, and they need most.
  splits::LayoutSpec spec{.axes = {{"tensor", 4}}, .micro_batches = 64};
  spec.memory_limit = std::int64_t{1} << 40;
  const Result<splits::GraphLayout> free = splits::choose_layouts(g, cluster, spec);
  REQUIRE(free.ok());
  spec.memory_limit = free->bytes * 9 / 10;
  const Result<splits::GraphLayout> tight = splits::choose_layouts(g, cluster, spec);
  REQUIRE(tight.ok());
  CHECK(tight->bytes <= spec.memory_limit);
  CHECK(tight->cost_us >= free->cost_us);
  const auto step = step_of(g, cluster, text_of(spec, tight->statements));
  REQUIRE(step);
  CHECK(step->verdict == Verdict::equivalent);
  spec.memory_limit = 1000;
  CHECK_FALSE(splits::choose_layouts(g, cluster, spec).ok());
}

TEST_CASE("two axes are at least as good as one", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = two_products(2, 2048, 8192);
  const splits::LayoutSpec both{.axes = {{"data", 2}, {"tensor", 2}}}, one{.axes = {{"tensor", 2}}};
  const Result<splits::GraphLayout> two = splits::choose_layouts(g, cluster, both);
  const Result<splits::GraphLayout> single = splits::choose_layouts(g, cluster, one);
  REQUIRE(two.ok());
  REQUIRE(single.ok());
  CHECK(two->cost_us < single->cost_us);
  const auto step = step_of(g, cluster, text_of(both, two->statements));
  REQUIRE(step);
  CHECK(step->verdict == Verdict::equivalent);
  CHECK(step->us <= 1.1 * two->cost_us);
}

TEST_CASE("two axes have all that one over as many devices has, for an operator with very many ways too", "[splits]") {
  const Cluster cluster = cluster_of("dgx-a100x1");
  Result<Model> model = import_model("sample_models/swin_tiny.pt2");
  REQUIRE(model.ok());
  const Graph g = *make_graph(std::make_shared<const Model>(std::move(*model.value))).value;
  const Result<splits::GraphLayout> two = splits::choose_layouts(g, cluster, {.axes = {{"a", 2}, {"b", 2}}});
  const Result<splits::GraphLayout> one = splits::choose_layouts(g, cluster, {.axes = {{"t", 4}}});
  REQUIRE(two.ok());
  REQUIRE(one.ok());
  CHECK(two->cut_kinds == 0);
  CHECK(two->optimal);
  CHECK(two->cost_us <= one->cost_us);
}

TEST_CASE("work of an hour is possible", "[splits]") {
  Cluster slow = cluster_of("dgx-h100x1");
  for (auto& [type, rate] : slow.kinds[0].type.flops) rate /= 1e7;
  const Result<splits::GraphLayout> found =
      splits::choose_layouts(two_products(8, 2048, 8192), slow, {.axes = {{"tensor", 2}}});
  REQUIRE(found.ok());
  CHECK(found->optimal);
  CHECK(found->cost_us > 2e9);
}

TEST_CASE("experts and shared weights", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  for (const testing::TransformerSizes& sizes :
       {testing::TransformerSizes{.batch = 4, .seq = 512, .hidden = 512, .ffn = 2048, .experts = 4},
        testing::TransformerSizes{.batch = 4, .seq = 512, .hidden = 512, .ffn = 2048, .tied = true, .positions = true},
        testing::TransformerSizes{.batch = 4, .seq = 512, .hidden = 512, .ffn = 2048, .biased = true, .parallel = true},
        testing::TransformerSizes{.batch = 3, .seq = 511, .hidden = 512, .ffn = 2047, .vocab = 1001}}) {
    const Graph g = testing::transformer(sizes);
    const splits::LayoutSpec spec{.axes = {{"tensor", 2}}};
    const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec);
    if (!found.ok()) FAIL(to_string(found.diagnostics[0]));
    const auto own = step_of(g, cluster, text_of(spec, found->statements));
    const auto alone = step_of(g, cluster, splits::devices_line(spec.axes));
    REQUIRE(own);
    REQUIRE(alone);
    CHECK(own->verdict == Verdict::equivalent);
    CHECK(own->us <= alone->us * 1.01);
    CHECK(splits::choose_layouts(g, cluster, spec)->statements == found->statements);
  }
}

TEST_CASE("what cannot be asked", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = two_products(2, 64, 64);
  CHECK_FALSE(splits::choose_layouts(g, cluster, {}).ok());
  CHECK_FALSE(splits::choose_layouts(g, cluster, {.axes = {{"tensor", 0}}}).ok());
  CHECK_FALSE(splits::choose_layouts(g, cluster, {.axes = {{"tensor", 16}}}).ok());
  CHECK_FALSE(splits::choose_layouts(g, cluster, {.axes = {{"a", 1 << 30}, {"b", 1 << 30}, {"c", 1 << 30}}}).ok());
  CHECK_FALSE(splits::choose_layouts(g, cluster, {.axes = {{"tensor", 2}}, .micro_batches = 0}).ok());
  CHECK_FALSE(splits::cost_of_lines(g, cluster, {.axes = {{"tensor", 2}}}, "trans nothing out by tensor\n").ok());
  const Result<splits::GraphLayout> one = splits::choose_layouts(g, cluster, {.axes = {{"tensor", 1}}});
  REQUIRE(one.ok());
  CHECK(one->statements.empty());
}

}  // namespace planscope
