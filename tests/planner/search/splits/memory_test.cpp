// ZeRO, recomputation and offload as strategies: against every plan of small graphs, materialized and simulated; where memory
// asks for one of them; rows that are kept.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/search/splits/choose.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"
#include "tests/support/model_builder.h"

namespace planscope {
namespace {

Cluster cluster_of(const std::string& name) {
  Result<Cluster> c = read_cluster(name);
  REQUIRE(c.ok());
  return *c;
}

struct Step {
  double us = 0;
  std::int64_t peak = 0;
  Verdict verdict = Verdict::unknown;
};

// Nothing: the plan is refused.
std::optional<Step> step_of(const Graph& g, const Cluster& cluster, const std::string& text, bool verified = false) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return std::nullopt;
  const Result<Materialized> made = materialize(g, *plan, cluster);
  if (!made.ok()) return std::nullopt;
  const Result<Simulation> s = simulate(*made->graph, made->program, cluster);
  if (!s.ok()) return std::nullopt;
  Step out{s->step_us(), 0, Verdict::unknown};
  for (const ClassTimeline& c : s->classes) out.peak = std::max(out.peak, c.peak.bytes());
  if (verified) out.verdict = verify(*made->graph, made->program).verdict;
  return out;
}

Graph layered() {
  return testing::transformer({.batch = 4,
                               .seq = 512,
                               .hidden = 512,
                               .heads = 8,
                               .kv_heads = 8,
                               .ffn = 2048,
                               .vocab = 1024,
                               .layers = 2,
                               .bias = false,
                               .causal = true,
                               .gated = true});
}

splits::LayoutSpec spec_of(std::int64_t micro_batches) {
  splits::LayoutSpec spec{.axes = {{"data", 2}}, .micro_batches = micro_batches};
  spec.storage.layers = {"layers"};
  spec.simulated = true;
  return spec;
}

bool has_line(const splits::GraphLayout& l, const std::string& word) {
  return std::any_of(l.statements.begin(), l.statements.end(),
                     [&](const std::string& line) { return line.find(word) != std::string::npos; });
}

const std::string replicas = "trans * batch by data\n";

}  // namespace

TEST_CASE("no plan that fits is much faster", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = layered();
  splits::LayoutSpec spec = spec_of(2);
  spec.zero = {"data"};
  spec.storage.recompute = true;
  const std::string head = "devices 2 as data=2\naxis mb=2\nmodel batch=8\ntrans * batch by mb\n" + replicas;
  const std::vector<std::string> zero = {"", "trans update(*) dim0 by data\n",
                                         "trans update(*), grad(*) dim0 by data\n",
                                         "trans update(*), grad(*), fetch(*) dim0 by data\n"};
  std::vector<std::string> words;
  for (const std::string layer : {"layers[0]", "layers[1]", "layers[*]"})
    for (const std::string below : {"", ".mlp", ".attn", ".{norm1,norm2,attn,mlp}"})
      words.push_back("trans " + layer + below + " recompute\n");
  words.emplace_back("");
  std::vector<Step> all;
  std::vector<std::string> texts;
  for (const std::string& z : zero)
    for (const std::string& a : words)
      for (const std::string& b : words)
        if (const auto step = step_of(g, cluster, head + z + a + b)) {
          all.push_back(*step);
          texts.push_back(z + a + b);
        }
  CHECK(all.size() > 600);
  std::int64_t least = all[0].peak, most = 0;
  for (const Step& s : all) {
    least = std::min(least, s.peak);
    most = std::max(most, s.peak);
  }
  CHECK(least < most * 3 / 4);
  for (const int percent : {10, 25, 50, 75, 100}) {
    spec.memory_limit = least + (most - least) * percent / 100;
    Result<splits::Chooser> chooser = splits::Chooser::make(g, cluster, spec);
    REQUIRE(chooser.ok());
    const Result<splits::GraphLayout> found = chooser->choose(replicas);
    if (!found.ok()) FAIL(to_string(found.diagnostics));
    INFO(percent << " %\n" << found->plan);
    CHECK(found->fits);
    CHECK(found->bytes <= spec.memory_limit);
    const auto own = step_of(g, cluster, found->plan, true);
    REQUIRE(own);
    CHECK(own->verdict == Verdict::equivalent);
    CHECK(own->us == Approx(found->step_us));
    CHECK(own->peak <= spec.memory_limit);
    double best = own->us;
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].peak <= spec.memory_limit && all[i].us < best) {
        best = all[i].us;
        text = texts[i];
      }
    const Result<double> cost = chooser->cost_of(replicas + text);
    INFO(own->us << " us (cost " << found->cost_us << ", row " << found->bytes << ", peak " << own->peak
                 << "), the best is " << best << " (cost " << (cost.ok() ? *cost : -1) << "):\n"
                 << text);
    // Near the least that there is, what is alive beside the row decides, which the row does not see.
    CHECK(own->us <= (percent >= 50 ? 1.01 : 1.1) * best);
    CHECK(found->lower_bound_us <= found->cost_us * (1 + 1e-9));
  }
}

TEST_CASE("what the network says of ZeRO and recomputation is what is simulated", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = layered();
  splits::LayoutSpec spec = spec_of(1);
  spec.zero = {"data"};
  spec.storage.recompute = true;
  Result<splits::Chooser> chooser = splits::Chooser::make(g, cluster, spec);
  REQUIRE(chooser.ok());
  const std::string head = splits::devices_line(spec.axes);
  for (const std::string lines :
       {"", "trans layers[*] recompute\n", "trans layers[0].mlp recompute\n",
        "trans layers[*].{attn,mlp,norm1,norm2} recompute\n", "trans layers[1].mlp:{gelu,mul} recompute\n",
        "trans update(*) dim0 by data\n",
        "trans update(*), grad(*), fetch(*) dim0 by data\ntrans layers[0:2].attn recompute\n"}) {
    INFO(lines);
    const Result<double> cost = chooser->cost_of(replicas + lines);
    if (!cost.ok()) FAIL(to_string(cost.diagnostics));
    const auto step = step_of(g, cluster, head + replicas + lines);
    REQUIRE(step);
    CHECK(step->us <= 1.03 * *cost);
    CHECK(step->us >= 0.8 * *cost);  // what hides behind what makes it shorter
  }
}

TEST_CASE("memory asks for recomputation, ZeRO or offload", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = layered();
  const splits::LayoutSpec plain = spec_of(1);
  Result<splits::Chooser> free = splits::Chooser::make(g, cluster, plain);
  REQUIRE(free.ok());
  const Result<splits::GraphLayout> without = free->choose(replicas);
  REQUIRE(without.ok());
  struct Case {
    std::string word;
    bool recompute, offload, zero;
    std::string line;  // with which it fits
  };
  for (const Case& c : {Case{" recompute", true, false, false, "trans layers[*].{attn,mlp} recompute\n"},
                        Case{" offload", false, true, false, "trans layers[*] offload\n"},
                        Case{"update(", false, false, true, "trans update(*), fetch(*) dim0 by data\n"}}) {
    splits::LayoutSpec spec = plain;
    const auto small = step_of(g, cluster, splits::devices_line(spec.axes) + replicas + c.line);
    REQUIRE(small);
    REQUIRE(small->peak < without->peak_bytes * 49 / 50);
    spec.memory_limit = (small->peak + without->peak_bytes) / 2;
    INFO(c.word << " in " << spec.memory_limit << " of " << without->peak_bytes);
    const Result<splits::GraphLayout> refused = splits::choose_layouts(g, cluster, spec, replicas);
    CHECK((!refused.ok() || !refused->fits));
    spec.storage.recompute = c.recompute;
    spec.storage.offload = c.offload;
    if (c.zero) spec.zero = {"data"};
    const Result<splits::GraphLayout> found = splits::choose_layouts(g, cluster, spec, replicas);
    if (!found.ok()) FAIL(to_string(found.diagnostics));
    INFO(found->plan);
    CHECK(found->fits);
    CHECK(found->step_us > without->step_us);
    CHECK(has_line(*found, c.word));
    const auto step = step_of(g, cluster, found->plan, true);
    REQUIRE(step);
    CHECK(step->verdict == Verdict::equivalent);
    CHECK(step->peak <= spec.memory_limit);
    if (!c.offload) CHECK(step->us <= 1.03 * found->cost_us);  // copies to host memory may not hide
  }
}

TEST_CASE("what waits in host memory costs its copies, as chosen and as written", "[splits]") {
  Cluster cluster = cluster_of("dgx-a100");
  cluster.host.bandwidth = 1e11;
  const Graph g = layered();
  splits::LayoutSpec spec = spec_of(1);
  spec.storage.offload = true;
  const Result<splits::GraphLayout> free = splits::choose_layouts(g, cluster, spec);
  REQUIRE(free.ok());
  int offloaded = 0;
  for (const double part : {0.9, 0.8, 0.7, 0.6}) {
    spec.memory_limit = static_cast<std::int64_t>(part * static_cast<double>(free->peak_bytes));
    const Result<splits::GraphLayout> l = splits::choose_layouts(g, cluster, spec);
    if (!l.ok()) continue;
    CAPTURE(l->plan, part);
    std::string lines;
    for (const std::string& line : l->statements) lines += line + "\n";
    const Result<double> written = splits::cost_of_lines(g, cluster, spec, lines);
    REQUIRE(written.ok());
    CHECK(*written == Approx(l->cost_us).epsilon(1e-6));
    CHECK(l->cost_us >= l->lower_bound_us * (1 - 1e-9));
    offloaded += lines.find("offload") != std::string::npos;
  }
  CHECK(offloaded > 1);
}

TEST_CASE("rows are kept", "[splits]") {
  const Cluster cluster = cluster_of("dgx-h100x1");
  const Graph g = layered();
  splits::LayoutSpec spec{.axes = {{"tensor", 2}}};
  spec.storage = {{"layers"}, true, true};
  spec.zero = {"tensor"};
  Result<splits::Chooser> chooser = splits::Chooser::make(g, cluster, spec);
  REQUIRE(chooser.ok());
  const Result<splits::GraphLayout> free = chooser->choose();
  REQUIRE(free.ok());
  for (const std::string rows :
       {"trans lm_head none by tensor", "trans layers[*].mlp.up out by tensor\ntrans layers[0].mlp.down in by tensor",
        "trans layers[*].attn.{q,k,v} out|none by tensor", "forbid trans layers[*].mlp.down in|batch by tensor",
        "trans layers[0] recompute", "trans layers[1].mlp recompute", "trans layers[*] offload",
        "forbid trans layers[1] recompute", "trans update(lm_head) dim0 by tensor",
        "trans lm_head none by tensor\nforbid trans update(lm_head) dim0 by tensor",
        "trans lm_head none by tensor\nforbid trans update(lm_head) none by tensor\nforbid trans fetch(*) dim0 by "
        "tensor "
        "where |tensor| = 4"}) {
    INFO(rows);
    const Result<splits::GraphLayout> kept = chooser->choose(rows);
    if (!kept.ok()) FAIL(to_string(kept.diagnostics));
    CHECK(kept->cost_us >= free->cost_us * (1 - 1e-9));
    const Result<splits::GraphLayout> anew = splits::choose_layouts(g, cluster, spec, rows);
    REQUIRE(anew.ok());
    CHECK(anew->cost_us == Approx(kept->cost_us));
    CHECK(kept->plan.find(rows) != std::string::npos);
    const bool open = rows.find('|') != std::string::npos;
    if (open) continue;
    const auto step = step_of(g, cluster, kept->plan, true);
    REQUIRE(step);
    CHECK(step->verdict == Verdict::equivalent);
  }
  CHECK(chooser->choose()->cost_us == Approx(free->cost_us));
  CHECK_FALSE(chooser->choose("trans nothing out by tensor").ok());
  CHECK_FALSE(chooser->choose("trans lm_head keys by tensor").ok());
  const Result<splits::GraphLayout> impossible =
      chooser->choose("trans lm_head out by tensor\nforbid trans lm_head out by tensor");
  REQUIRE_FALSE(impossible.ok());
  CHECK(to_string(impossible.diagnostics[0]).find("lm_head") != std::string::npos);
}

TEST_CASE("ZeRO is over axes that there are", "[splits]") {
  splits::LayoutSpec spec{.axes = {{"tensor", 2}}};
  spec.zero = {"data"};
  CHECK_FALSE(splits::choose_layouts(layered(), cluster_of("dgx-h100x1"), spec).ok());
}

}  // namespace planscope
