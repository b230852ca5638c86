// The folding of models, and that what their graphs show of a plan is what the simulation says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "app/session/canvases/canvases.h"
#include "app/session/graph/picture.h"
#include "app/session/graph/repeats.h"
#include "app/session/graph/run_layout.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "app/workbench/cost_shares.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "viz/graph/layout.h"
#include "viz/graph/wire.h"

using namespace planscope;
using namespace planscope::session;

namespace {

const char* const models[] = {"gpt2_tiny", "llama_tiny", "t5_tiny", "bert_tiny", "swin_tiny", "mixtral_tiny", "deepseek_tiny", "evoformer_tiny"};

OpenModel opened(const std::string& name) {
  Result<OpenModel> m = open_model("sample_models/" + name + ".pt2", nullptr);
  REQUIRE(m.ok());
  return std::move(*m.value);
}

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void operators_of(const FoldedModel& f, int group, std::set<OpId>& out) {
  out.insert(f.groups[at(group)].ops.begin(), f.groups[at(group)].ops.end());
  for (const int c : f.groups[at(group)].children) operators_of(f, c, out);
}

using Key = std::pair<std::string, std::int64_t>;  // kind, group
struct Sum {
  double count = 0, bytes = 0, us = 0;
};

std::shared_ptr<const Picture> predicted(Session& s, const std::string& model, const std::string& plan) {
  REQUIRE(s.apply({"open", {{"model", "sample_models/" + model + ".pt2"}}}).ok());
  REQUIRE(s.apply({"text", {{"text", plan}}}).ok());
  s.wait();
  const std::shared_ptr<const Picture> p = s.state().document()->shown;
  REQUIRE(p);
  INFO(to_string(p->diagnostics));
  REQUIRE(p->evaluation);
  return p;
}

struct Case {
  const char *model, *plan;
};
const Case plans[] = {
    {"gpt2_tiny", "devices 2 as data=2\ntrans * batch by data\n"},
    {"llama_tiny", "devices 4 as data=2 tensor=2\nlet L = model.layers[*]\ntrans * batch by data\nuse tp(L, tensor)\n"},
    {"llama_tiny", "devices 2 as data=2\ntrans * batch by data\nuse zero(3, *, data)\n"},
    {"gpt2_tiny", "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\nassign S[i] to pipe=i\nuse 1f1b(S)\n"},
    {"llama_tiny", "devices 4 as pipe=2 tensor=2\naxis mb=4\nlet L = model.layers[*]\nlet S = cut L into 2\ntrans * batch by mb\n"
                   "use tp(L, tensor)\nassign S[i] to pipe=i\ntrans L recompute\nuse gpipe(S)\n"},
    {"t5_tiny", "devices 2 as data=2\ntrans * batch by data\n"},
};

}  // namespace

TEST_CASE("repeats are found by their shortest unit, those that cover most first") {
  CHECK(find_repeats({7, 1, 2, 1, 2, 1, 2, 9}, 8) == std::vector<Repeat>{{1, 2, 3}});
  CHECK(find_repeats({1, 1, 1, 1}, 8) == std::vector<Repeat>{{0, 1, 4}});
  CHECK(find_repeats({0, 1, 1, 1, 1, 2, 3, 3}, 8) == std::vector<Repeat>{{1, 1, 4}, {6, 1, 2}});
  CHECK(find_repeats({1, 2, 3}, 8).empty());
  CHECK(find_repeats({}, 8).empty());
  CHECK(find_repeats({1, 2, 3, 1, 2, 3}, 2).empty());
}

TEST_CASE("every operator is in one group, and equal layers are counted") {
  for (const char* name : models) {
    INFO(name);
    const OpenModel m = opened(name);
    const FoldedModel f = fold_model(m.graph);
    std::set<OpId> seen;
    for (int k = 0; k < static_cast<int>(f.groups.size()); ++k) {
      const Group& g = f.groups[at(k)];
      INFO(g.id);
      std::set<OpId> own;
      operators_of(f, k, own);
      CHECK(static_cast<std::int64_t>(own.size()) == g.operators);
      CHECK(g.operators % g.count == 0);
      if (k > 0) CHECK(g.count == g.repeats * f.groups[at(g.parent)].count);
      if (g.children.empty()) CHECK(static_cast<std::int64_t>(g.ops.size()) == g.count);
      for (const OpId o : g.ops) {
        CHECK(seen.insert(o).second);
        CHECK(f.group_of[at(o)] == k);
      }
      CHECK(f.by_id.at(g.id) == k);
    }
    CHECK(seen.size() == m.graph.ops.size());
  }
}

TEST_CASE("the selector of a group names its operators and no others", "[slow]") {
  for (const char* name : models) {
    const OpenModel m = opened(name);
    const FoldedModel f = fold_model(m.graph);
    for (int k = 1; k < static_cast<int>(f.groups.size()); ++k) {
      INFO(name << ": " << f.groups[at(k)].selector);
      std::set<OpId> wanted;
      operators_of(f, k, wanted);
      const Result<plan::Plan> p = plan::parse_plan("devices 1\ntrans " + f.groups[at(k)].selector + " recompute\n", "");
      REQUIRE(p.ok());
      const Result<Decided> d = decide(m.graph, *p.value);
      REQUIRE(d.value);
      std::set<OpId> found;
      for (std::size_t o = 0; o < d->decisions.operator_storage.size(); ++o)
        if (d->decisions.operator_storage[o] >= 0) found.insert(static_cast<OpId>(o));
      CHECK(found == wanted);
    }
  }
}

namespace {

// A chain of operators without modules, of these kinds.
Graph chain(const std::vector<std::string>& kinds) {
  auto m = std::make_shared<Model>();
  Graph g;
  m->values.resize(kinds.size());
  g.tensors.resize(kinds.size());
  std::map<std::string, int> ordinals;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Node n;
    n.kind = kinds[k];
    n.target = "aten::" + kinds[k];
    n.ordinal = ordinals[kinds[k]]++;
    m->nodes.push_back(n);
    Op op;
    op.node = static_cast<int>(k);
    g.ops.push_back(op);
    g.tensors[k].producer = static_cast<OpId>(k);
    if (k + 1 < kinds.size()) g.tensors[k].readers = {static_cast<OpId>(k + 1)};
  }
  g.model = m;
  return g;
}

std::size_t most_children(const FoldedModel& f) {
  std::size_t most = 0;
  for (const Group& g : f.groups) most = std::max(most, g.children.size());
  return most;
}

}  // namespace

TEST_CASE("ten thousand operators without modules are folded by what repeats") {
  std::vector<std::string> kinds = {"embedding"};
  while (kinds.size() < 10'000)
    for (const char* kind : {"norm", "linear", "linear", "attention", "linear", "add", "norm", "linear", "relu", "linear", "add"}) kinds.push_back(kind);
  kinds.push_back("loss");
  const Graph g = chain(kinds);
  const FoldedModel f = fold_model(g);
  CHECK(f.groups[0].children.size() == 3);
  const Group& layers = f.groups[at(f.groups[0].children[1])];
  CHECK(layers.repeats == 909);
  CHECK(layers.operators == 9'999);
  CHECK(layers.children.size() == 11);
  const VisibleGraph v = visible_graph(g, f, {layers.id});
  CHECK(v.nodes.size() == 3 + 11);
  REQUIRE(v.edges.size() == 1 + 10 + 1 + 1);
  CHECK(std::count_if(v.edges.begin(), v.edges.end(), [](const VisibleEdge& e) { return e.next; }) == 1);
}

TEST_CASE("ten thousand operators that do not repeat are folded into parts") {
  std::vector<std::string> kinds;
  for (int k = 0; k < 10'000; ++k) kinds.push_back("kind" + std::to_string(k));
  const FoldedModel f = fold_model(chain(kinds));
  CHECK(most_children(f) <= 80);
  CHECK(f.groups[0].children.size() == 40);
  const std::vector<std::string> first = first_expanded(f);
  CHECK(count_visible(f, {first.begin(), first.end()}) <= 40 + 32);
}

TEST_CASE("what cannot be laid out in time is laid out in layers, and says so") {
  std::vector<std::string> kinds;
  for (int k = 0; k < 1'000; ++k) kinds.push_back("kind" + std::to_string(k));
  const Graph g = chain(kinds);
  const FoldedModel f = fold_model(g);
  std::set<std::string> all;
  for (const Group& group : f.groups) all.insert(group.id);
  const PlacedGraph p = placed_graph(g, f, all);
  CHECK(p.visible.nodes.size() > 1'000);
  CHECK(p.how == "layered");
  CHECK(p.why == "more than 300 nodes are drawn");
  CHECK(p.layout.nodes.size() == p.visible.nodes.size());
}

TEST_CASE("a layout that takes too long is given up, and why is said") {
  viz::LayoutRequest dense;
  for (int k = 0; k < 300; ++k) {
    dense.nodes.push_back({-1, false, 100, 50});
    for (int from = 0; from < k; ++from) dense.edges.push_back({from, k});
  }
  const Result<viz::GraphLayout> none = run_layout(dense);
  REQUIRE_FALSE(none.ok());
  CHECK(none.diagnostics.front().what.find("planscope-layout: killed by signal 24") != std::string::npos);
}

TEST_CASE("equal layers are one node, expanded in place") {
  const OpenModel m = opened("llama_tiny");
  const FoldedModel f = fold_model(m.graph);
  const std::optional<int> layers = f.find("model.layers[*]");
  REQUIRE(layers);
  CHECK(f.groups[at(*layers)].repeats == 4);
  const std::vector<std::string> first = first_expanded(f);
  std::set<std::string> expanded(first.begin(), first.end());
  CHECK_FALSE(expanded.contains("model.layers[*]"));
  const VisibleGraph folded = visible_graph(m.graph, f, expanded);
  expanded.insert("model.layers[*]");
  const VisibleGraph open = visible_graph(m.graph, f, expanded);
  CHECK(open.nodes.size() == folded.nodes.size() + f.groups[at(*layers)].children.size());
  CHECK(count_visible(f, expanded) == open.nodes.size());
  // Where a layer ends, its result goes to the next layer: three of the four times.
  std::int64_t next = 0;
  for (const VisibleEdge& e : open.edges)
    if (e.next) next = std::max(next, e.count);
  CHECK(next == 3);
  for (const VisibleEdge& e : folded.edges) CHECK_FALSE(e.next);
}

TEST_CASE("what is communicated is told once, in the sums of the simulation") {
  for (const auto& [model, plan] : plans) {
    INFO(model << "\n" << plan);
    Session s({.workspace = "", .cluster = "dgx-h100x1"});
    const std::shared_ptr<const Picture> p = predicted(s, model, plan);
    std::map<Key, Sum> told, simulated;
    double us = 0, streams = 0;
    for (const Communication& c : communications(*p->evaluation, *p->cluster)) {
      told[{c.kind, c.group}].count += c.count;
      told[{c.kind, c.group}].bytes += c.bytes;
      us += c.us;
      CHECK(c.exposed_us >= 0);
      CHECK(c.exposed_us <= c.us + 1e-6);
      CHECK((c.from >= 0 || c.to >= 0));
    }
    for (const Traffic& t : p->evaluation->simulation.traffic()) {
      simulated[{t.kind, t.group}].count += static_cast<double>(t.count);
      simulated[{t.kind, t.group}].bytes += static_cast<double>(t.payload.count);
    }
    REQUIRE(!simulated.empty());
    REQUIRE(told.size() == simulated.size());
    for (const auto& [key, sum] : simulated) {
      INFO(key.first << " among " << key.second);
      CHECK(told[key].count == Approx(sum.count));
      CHECK(told[key].bytes == Approx(sum.bytes));
    }
    for (const ClassTimeline& t : p->evaluation->simulation.classes) streams += static_cast<double>(t.collective + t.transfer) / 1000;
    CHECK(us == Approx(streams));
  }
}

TEST_CASE("the graph shows all that is communicated and computed, however it is folded") {
  for (const auto& [model, plan] : plans) {
    INFO(model << "\n" << plan);
    Session s({.workspace = "", .cluster = "dgx-h100x1"});
    const std::shared_ptr<const Picture> p = predicted(s, model, plan);
    double bytes = 0;
    for (const Traffic& t : p->evaluation->simulation.traffic()) bytes += static_cast<double>(t.payload.count);
    const double compute = cost_shares_where_run(*p->evaluation, *p->cluster).sum().compute_us;
    for (const char* depth : {"0", "2", "3", "9"}) {
      if (depth[0] != '0') REQUIRE(s.apply({"expand", {{"depth", depth}}}).ok());
      const State state = s.state();
      const GraphPicture g = graph_picture(*state.document());
      double shown = 0, time = 0;
      for (const NodePicture& n : g.nodes) {
        if (!n.expanded) time += n.time_us;
        for (const session::Conversion& c : n.communication) shown += c.bytes;
      }
      for (const EdgePicture& e : g.edges)
        for (const session::Conversion& c : e.conversions) shown += c.bytes;
      CHECK(shown == Approx(bytes));
      CHECK(time == Approx(compute));
      const std::optional<viz::GraphModel> drawn = viz::decode_graph(graph_model(state));
      REQUIRE(drawn);
      CHECK(drawn->nodes() == static_cast<int>(g.nodes.size()));
    }
  }
}

TEST_CASE("nodes stay where they are when a plan is edited") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  REQUIRE(s.apply({"open", {{"model", "sample_models/llama_tiny.pt2"}}}).ok());
  const auto before = s.state().document()->graph.placed;
  REQUIRE(s.apply({"text", {{"text", "devices 2 as data=2\ntrans * batch by data\n"}}}).ok());
  s.wait();
  CHECK(s.state().document()->graph.placed == before);
  REQUIRE(s.apply({"expand", {{"node", "model.layers[*]"}}}).ok());
  REQUIRE(s.apply({"collapse", {{"node", "model.layers[*]"}}}).ok());
  const auto again = s.state().document()->graph.placed;
  CHECK(again == before);  // it is not laid out again
}

TEST_CASE("every colour has a legend, and bands that sum to the node") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, plans[4].model, plans[4].plan);
  for (const char* by : kColours) {
    INFO(by);
    REQUIRE(s.apply({"colour", {{"by", by}}}).ok());
    const std::optional<viz::GraphModel> m = viz::decode_graph(graph_model(s.state()));
    REQUIRE(m);
    CHECK(m->colour_name == by);
    if (m->colour != viz::ColourKind::categories) {
      CHECK(*std::max_element(m->level.begin(), m->level.end()) == 1);
      continue;
    }
    CHECK(!m->category.empty());
    for (int n = 0; n < m->nodes(); ++n) {
      double sum = 0;
      const viz::Span32 span = viz::span_of(m->band_end, n);
      for (int k = span.begin; k < span.end; ++k) sum += m->band_share[at(k)];
      CHECK(sum == Approx(1));
    }
  }
}

TEST_CASE("the colour of differences tells the plan from the one that is compared, else from the kept version") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, "gpt2_tiny", "devices 2 as data=2\ntrans * batch by data\n");
  REQUIRE(s.apply({"colour", {{"by", "difference"}}}).ok());
  const std::string before = graph_model(s.state());
  const CanvasSource source = graph_source(s.state());
  CHECK(viz::decode_graph(before)->colour_name == "difference");
  REQUIRE(s.apply({"compare", {{"plans", "sample_models/plans/gpt2_tiny-1f1b.plan"}}}).ok());
  s.wait();
  const std::optional<viz::GraphModel> m = viz::decode_graph(graph_model(s.state()));
  REQUIRE(m);
  CHECK(m->colour_name == "difference to gpt2_tiny-1f1b");
  CHECK(!(graph_source(s.state()) == source));
  // Its stages are other places than all devices.
  std::set<std::int16_t> bands(m->band.begin(), m->band.end());
  CHECK(bands.contains(1));
}

TEST_CASE("parameters that are kept otherwise are a difference; without another plan there is none to tell") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, "gpt2_tiny", "devices 2 as data=2\ntrans * batch by data\n");
  REQUIRE(s.apply({"colour", {{"by", "difference"}}}).ok());
  const std::optional<viz::GraphModel> alone = viz::decode_graph(graph_model(s.state()));
  REQUIRE(alone->category.size() == 1);
  CHECK(alone->text(alone->category[0]) == "no other plan is kept or compared with");
  REQUIRE(s.apply({"keep", {}}).ok());
  REQUIRE(s.apply({"append", {{"statement", "use zero(3, *, data)"}}}).ok());
  s.wait();
  const std::optional<viz::GraphModel> m = viz::decode_graph(graph_model(s.state()));
  REQUIRE(m->category.size() == 5);
  CHECK(m->text(m->category[4]) == "parameters otherwise");
  std::set<std::int16_t> bands(m->band.begin(), m->band.end());
  CHECK(bands == std::set<std::int16_t>{0, 4});  // operators without parameters are the same
}

TEST_CASE("the lane of parameters holds all parameters, their fetches, their gradients and their update, once") {
  for (const auto& [model, plan] : plans) {
    INFO(model << "\n" << plan);
    Session s({.workspace = "", .cluster = "dgx-h100x1"});
    const std::shared_ptr<const Picture> p = predicted(s, model, plan);
    const Graph& g = *p->evaluation->made.graph;
    // By instruction and device class, from the simulation itself: the longest in any class of what updates the same parameters.
    std::map<std::set<TensorId>, double> longest;
    for (const ClassTimeline& t : p->evaluation->simulation.classes) {
      std::map<std::set<TensorId>, double> here;
      for (const InstructionBlock& b : t.instructions) {
        const Segment& segment = p->evaluation->made.program.segments[at(t.slots[at(b.slot)].segment)];
        const Instruction& i = segment.instructions[at(b.instruction)];
        if (b.stream != Stream::compute || i.code != Code::update) continue;
        std::set<TensorId> updated;
        for (const ProgramValueId v : i.out) updated.insert(p->evaluation->made.program.values[at(v)].tensor);
        here[updated] += static_cast<double>(b.end - b.start) / 1000;
      }
      for (const auto& [tensors, us] : here) longest[tensors] = std::max(longest[tensors], us);
    }
    const double update_us = std::accumulate(longest.begin(), longest.end(), 0.0, [](double sum, const auto& one) { return sum + one.second; });
    REQUIRE(update_us > 0);
    std::int64_t bytes = 0;
    int count = 0;
    for (const Parameter& parameter : g.parameters)
      if (!g.tensors[at(parameter.tensor)].readers.empty()) bytes += g.bytes(parameter.tensor), ++count;
    for (const char* depth : {"1", "9"}) {
      REQUIRE(s.apply({"expand", {{"depth", depth}}}).ok());
      ParameterLane all;
      double lanes = 0, within = 0, told = 0;
      for (const NodePicture& n : graph_picture(*s.state().document()).nodes) {
        if (n.expanded) continue;
        all.count += n.parameters.count, all.bytes += n.parameters.bytes, all.update_us += n.parameters.update_us;
        for (const session::Conversion& c : n.parameters.fetch) {
          CHECK_FALSE(c.gradient);
          lanes += c.bytes;
        }
        for (const session::Conversion& c : n.parameters.gradient) {
          CHECK(c.gradient);
          lanes += c.bytes;
        }
        for (const session::Conversion& c : n.within) within += c.bytes;
        for (const session::Conversion& c : n.communication) told += c.bytes;
      }
      CHECK(all.count == count);
      CHECK(all.bytes == bytes);
      CHECK(all.update_us == Approx(update_us));
      CHECK(lanes + within == Approx(told));
    }
  }
}

TEST_CASE("parameters that are stored in parts are fetched whole, and their gradients are scattered") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, "llama_tiny", "devices 2 as data=2\ntrans * batch by data\nuse zero(3, *, data)\n");
  REQUIRE(s.apply({"expand", {{"node", "model.layers[*]"}}}).ok());
  const GraphPicture g = graph_picture(*s.state().document());
  const auto mlp = std::find_if(g.nodes.begin(), g.nodes.end(),
                                [](const NodePicture& n) { return n.group->id == "model.layers[*].mlp"; });
  REQUIRE(mlp != g.nodes.end());
  const ParameterLane& p = mlp->parameters;
  CHECK(p.count == 3 * 4);
  CHECK(p.home_bytes == p.bytes / 2);
  REQUIRE(!p.splits.empty());
  for (const SplitText& split : p.splits) CHECK((split.blocks == 2 && split.axis == "data"));
  REQUIRE(!p.fetch.empty());
  for (const session::Conversion& c : p.fetch) CHECK(c.kind == "all_gather");
  REQUIRE(!p.gradient.empty());
  for (const session::Conversion& c : p.gradient) CHECK(c.kind == "reduce_scatter");
}

TEST_CASE("what is selected is marked where it is, whatever names it") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, plans[4].model, plans[4].plan);
  REQUIRE(s.apply({"expand", {{"node", "model.layers[*]"}}}).ok());
  const auto marks = [&](const std::string& select) {
    const Result<Done> done = s.apply(*parse_invocation("select " + select));
    INFO(to_string(done.diagnostics));
    REQUIRE(done.ok());
    std::vector<std::string> nodes = graph_marks(s.state());
    std::erase_if(nodes, [](const std::string& id) { return id.starts_with("edge "); });
    return nodes;
  };
  CHECK(marks("operators=\"model.layers[3].mlp.up_proj\"") == std::vector<std::string>{"model.layers[*].mlp"});
  CHECK(marks("tensor=\"model.layers.2.mlp.up_proj:linear#0\"") == std::vector<std::string>{"model.layers[*].mlp"});
  const std::vector<std::string> layer = marks("operators=\"model.layers[*]\"");
  CHECK(layer.size() == 7);  // the box, and the six nodes in it
  CHECK(std::count(layer.begin(), layer.end(), "model.layers[*]") == 1);
  const std::vector<std::string> one = marks("operators=\"model.layers[0]\"");
  CHECK(one.size() == 6);  // of the box the others are not selected
  const std::vector<std::string> there = marks("place=\"pipe=1\"");
  CHECK(std::count(there.begin(), there.end(), "lm_head") == 1);
  CHECK(std::count(there.begin(), there.end(), "model.embed_tokens") == 0);
  CHECK(marks("operators=\"update(lm_head)\"") == std::vector<std::string>{"lm_head"});
  CHECK(marks("none").empty());
}

TEST_CASE("what is decided otherwise than in the kept plan is marked on its nodes") {
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  predicted(s, plans[1].model, plans[1].plan);
  REQUIRE(s.apply({"keep", {}}).ok());
  s.wait();
  const auto changed = [&] {
    std::vector<std::string> nodes = graph_marks(s.state());
    std::erase_if(nodes, [](const std::string& id) { return !id.starts_with("changed "); });
    return nodes;
  };
  CHECK(changed().empty());
  REQUIRE(s.apply({"append", {{"statement", "trans lm_head out by tensor"}}}).ok());
  s.wait();
  INFO(to_json(*make_panel("problems", s.state())).dump());
  const std::vector<std::string> marked = changed();
  CHECK(std::count(marked.begin(), marked.end(), "changed lm_head") == 1);
  CHECK(std::count(marked.begin(), marked.end(), "changed model.layers[*]") == 0);
}

TEST_CASE("nodes and chips of the graph say what waits for backward, where, how long, and what is exposed") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  predicted(s, "llama_tiny", "devices 8 as pipe=2 data=2 tensor=2\nmodel batch=16\naxis mb=4\nlet L = model.layers[*]\nlet S = cut L into 2\n"
                             "trans * batch by data, mb\nuse tp(L, tensor)\ntrans L recompute\nassign S[i] to pipe=i\nuse 1f1b(S)\n");
  const auto graph = std::find_if(canvases().begin(), canvases().end(), [](const CanvasInfo& c) { return std::string_view(c.id) == "graph"; });
  const viz::GraphModel m = *viz::decode_graph(graph->model(s.state()));
  const int layers = m.find("model.layers[*]");
  REQUIRE(layers >= 0);
  CHECK(m.text(m.kind[at(layers)]) == "LlamaDecoderLayer");
  const viz::Span32 lines = viz::span_of(m.line_end, layers);
  REQUIRE(lines.end - lines.begin == 3);
  CHECK(m.text(m.line[at(lines.begin + 1)]) == "recompute · 2 places: pipe=0: 0–1; pipe=1: 2–3");
  CHECK(m.text(m.line[at(lines.begin + 2)]).find(" · holds ") != std::string::npos);
  CHECK(16 + 3 * 14 + 3 <= m.h[at(layers)] - viz::graph_lane_height - 7);  // the third line stands above the band of colours
  REQUIRE(s.apply({"expand", {{"depth", "3"}}}).ok());
  const viz::GraphModel inside = *viz::decode_graph(graph->model(s.state()));
  REQUIRE(inside.chips() > 0);
  for (int c = 0; c < inside.chips(); ++c) {
    INFO(inside.text(inside.chip_title[at(c)]) << ", " << inside.text(inside.chip_about[at(c)]));
    CHECK(inside.text(inside.chip_title[at(c)]).find(" of 2") != std::string::npos);
    CHECK(inside.text(inside.chip_about[at(c)]).ends_with(inside.chip_exposed[at(c)] ? "exposed" : "hidden"));
  }
}
