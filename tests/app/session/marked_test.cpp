// One selection is marked wherever what it means is shown: a table of kinds of selections × panels, with the rows
// that each panel marks, and the same for canvases.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "app/session/canvases/canvases.h"
#include "planner/cost/profile_items.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"
#include "viz/timeline/marks.h"
#include "viz/timeline/wire.h"

using namespace planscope;
using namespace planscope::session;
using planscope::testing::must;

namespace {

// Four devices, two stages of two; micro-batches; a tensor parallel stage each.
const std::string kPlan =
    "devices 4 as pipe=2 tensor=2\n"      // 1
    "axis mb=2\n"                         // 2
    "model batch=4\n"                     // 3
    "let L = transformer.h[*]\n"          // 4
    "let S = cut L into |pipe|\n"         // 5
    "trans * batch by mb\n"               // 6
    "use tp(L, tensor)\n"                 // 7
    "trans L[0].mlp recompute\n"          // 8
    "assign S[i] to pipe=i\n"             // 9
    "use 1f1b(S)\n";                      // 10

const std::vector<std::pair<std::string, std::string>> selections = {
    {"operators", "select operators=\"L[0].mlp\""},
    {"tensor", "select tensor=\"transformer.h.0.mlp.c_proj:addmm#0\""},
    {"place", "select place=\"pipe=1\""},
    {"statement", "select statement=8"},
    {"communicator", "select communicator=\"all_reduce over tensor\""},
    {"send", "select communicator=\"send over all[pipe=0] → all[pipe=1]\""},
    {"none", "select none"},
};

// `3 of 12`, and which, where they are few; a row by its first text.
std::string marked_rows(const Panel& p) {
  std::vector<std::string> marked;
  for (const TableRow& r : p.rows)
    if (r.selected) marked.push_back(r.id);
  std::string out = std::to_string(marked.size()) + " of " + std::to_string(p.rows.size());
  if (marked.empty() || marked.size() > 4) return out;
  for (std::size_t k = 0; k < marked.size(); ++k) out += (k ? " " : ": ") + marked[k];
  return out;
}

}  // namespace

TEST_CASE("every kind of selection is marked in every table that shows what it means") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  must(s, "expand depth=9");
  std::ostringstream out;
  for (const auto& [name, line] : selections) {
    must(s, line);
    s.wait();
    out << name << "\n";
    for (const char* id : {"modules", "graph", "edges", "timeline", "blocks", "alive", "constraints", "tensor",
                           "tiles", "traffic", "place"})
      out << "  " << id << " " << marked_rows(*make_panel(id, s.state())) << "\n";
  }
  CHECK(out.str() == R"(operators
  modules 3 of 15: transformer.h[*].mlp.c_fc transformer.h[*].mlp.act transformer.h[*].mlp.c_proj
  graph 14 of 82
  edges 17 of 84
  timeline 1 of 2: 0
  blocks 14 of 358
  alive 0 of 148
  constraints 7 of 12
  tensor 1 of 1: 0
  tiles 2 of 2: w0/0 r0/0
  traffic 1 of 2: 0
  place 1 of 1: pipe=0
tensor
  modules 1 of 15: transformer.h[*].mlp.c_proj
  graph 1 of 82: transformer.h[*].mlp.c_proj:addmm#0
  edges 1 of 84: 63
  timeline 1 of 2: 0
  blocks 10 of 358
  alive 0 of 148
  constraints 7 of 12
  tensor 0 of 1
  tiles 2 of 4: w0/0 w0/1
  traffic 0 of 2
  place 1 of 1: pipe=0
place
  modules 9 of 15
  graph 70 of 82
  edges 80 of 84
  timeline 1 of 2: 1
  blocks 65 of 358
  alive 147 of 148
  constraints 0 of 12
  tensor 1 of 2: 1
  tiles 2 of 4: w1/0 r1/0
  traffic 2 of 2: 0 1
  place 1 of 1: pipe=1
statement
  modules 3 of 15: transformer.h[*].mlp.c_fc transformer.h[*].mlp.act transformer.h[*].mlp.c_proj
  graph 14 of 82
  edges 17 of 84
  timeline 1 of 2: 0
  blocks 14 of 358
  alive 0 of 148
  constraints 1 of 12: 8
  tensor 1 of 1: 0
  tiles 2 of 2: w0/0 r0/0
  traffic 1 of 2: 0
  place 1 of 1: pipe=0
communicator
  modules 4 of 15: transformer.h[*].ln_1 transformer.h[*].attn.c_proj transformer.h[*].ln_2 transformer.h[*].mlp.c_proj
  graph 4 of 82: transformer.h[*].ln_1 transformer.h[*].attn.c_proj:view#1 transformer.h[*].ln_2 transformer.h[*].mlp.c_proj:view#1
  edges 4 of 84: 27 45 48 64
  timeline 2 of 2: 0 1
  blocks 32 of 358
  alive 17 of 148
  constraints 5 of 12
  tensor 0 of 1
  tiles 1 of 2: w0/0
  traffic 1 of 2: 0
  place 2 of 2: pipe=0 pipe=1
send
  modules 2 of 15: transformer.wte lm_head
  graph 3 of 82: transformer.wte transformer.h[*]:add#1 lm_head
  edges 2 of 84: 65 66
  timeline 1 of 2: 0
  blocks 3 of 358: 0/3/0 0/3/1 0/3/2
  alive 5 of 148
  constraints 4 of 12: 6 9 10 10.1
  tensor 0 of 1
  tiles 1 of 2: w0/0
  traffic 1 of 2: 1
  place 1 of 1: pipe=0
none
  modules 0 of 15
  graph 0 of 82
  edges 0 of 84
  timeline 0 of 2
  blocks 0 of 358
  alive 0 of 148
  constraints 0 of 12
  tensor 0 of 0
  tiles 0 of 0
  traffic 0 of 2
  place 0 of 0
)");
}

// A run that took as long as it was predicted, and a profile, as they would be after a trial and a measurement.
State with_measurements(State s) {
  Document& d = s.documents[static_cast<std::size_t>(s.current)];
  const Evaluation& e = *d.shown->evaluation;
  auto run = std::make_shared<MeasuredRun>();
  run->version = d.version.value_or(0), run->predicted = e, run->measured = e.simulation;
  run->errors = prediction_errors(*e.made.graph, e.made.program, e.simulation, e.simulation);
  d.measured = std::move(run);
  auto profile = std::make_shared<ProfileAnswer>();
  profile->running = false, profile->result.emplace();
  for (ProfileItem& item : profile_items(*e.made.graph, e.made.program, d.chosen->device(0), {}))
    profile->result->operators.push_back({.item = std::move(item), .measured_us = 1, .reused = false, .problem = {}});
  d.profile = std::move(profile);
  return s;
}

TEST_CASE("what was measured, compared and profiled is marked where the selection is in it") {
  const planscope::testing::Scratch scratch;  // versions that are compared are those of a file
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  std::string other = kPlan;  // that keeps what line 8 computes again
  other.replace(other.find("recompute"), 9, "keep");
  planscope::testing::write(s, other);
  must(s, "keep");
  planscope::testing::write(s, kPlan);
  s.wait();
  must(s, "compare 1");
  s.wait();
  // The plans differ in L[0].mlp alone, which runs at pipe=0 and sends nothing to another place.
  const std::map<std::string, int> changes = {{"operators", 1}, {"tensor", 1}, {"place", 0},       {"statement", 1},
                                              {"send", 0},      {"none", 0},   {"communicator", 1}};
  for (const auto& [name, line] : selections) {
    INFO(name);
    must(s, line);
    s.wait();
    const State state = with_measurements(s.state());
    const auto marked = [&](const char* id, const std::string& by = "") {
      const Panel p = *make_panel(id, state);
      return std::count_if(p.rows.begin(), p.rows.end(), [&](const TableRow& r) {
        return r.selected && (by.empty() || r.cells[0].text == by);
      });
    };
    CHECK(marked("compare") == changes.at(name));
    for (const char* by : {"task", "operators"}) CHECK((marked("measured", by) > 0) == (name != "none"));
    CHECK((marked("profile") > 0) == (name != "none"));
    if (name == "place") CHECK(marked("measured", "class") == 1);
  }
}

TEST_CASE("a row of what was measured or profiled selects what it is about, and is marked then") {
  const planscope::testing::Scratch scratch;  // the run is of a version
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  must(s, "keep");
  s.wait();
  const auto row = [&](const char* id, std::size_t k) {
    return make_panel(id, with_measurements(s.state()))->rows.at(k);
  };
  const auto select = [&](const char* id, std::size_t k) {
    const std::string command = row(id, k).command;
    INFO(id << " " << k << ": " << command);
    REQUIRE(!command.empty());
    must(s, command);
    s.wait();
    CHECK(row(id, k).selected);
  };
  std::set<std::string> seen;
  const Panel measured = *make_panel("measured", with_measurements(s.state()));
  for (std::size_t k = 0; k < measured.rows.size(); ++k) {
    const std::string by = measured.rows[k].cells[0].text;
    if ((by == "class" || by == "task" || by == "operators") && seen.insert(by).second) select("measured", k);
  }
  CHECK(seen.size() == 3);
  select("profile", 0);
}

TEST_CASE("the row of a failed check selects its statement and its tensor, which is shown then") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  State failed = s.state();
  Document& d = failed.documents[static_cast<std::size_t>(failed.current)];
  auto shown = std::make_shared<Picture>(*d.shown);
  auto verified = std::make_shared<Verified>();
  const std::string tensor = "transformer.h.0.mlp.c_proj:addmm#0";
  Failure of_none, of_tensor, on_line;
  of_tensor.tensor = on_line.tensor = tensor;
  on_line.statement.line = 7;
  verified->report.failures = {on_line, of_tensor, of_none};
  shown->verified = verified;
  d.shown = shown;
  const Panel p = *make_panel("verify", failed);
  REQUIRE(p.rows.size() == 3);
  CHECK(p.rows[2].command.empty());
  must(s, p.rows[1].command);
  CHECK(s.state().selection.tensor == tensor);
  must(s, "select none");
  must(s, p.rows[0].command);
  s.wait();
  CHECK(s.state().selection.statement == 7);
  const Panel shown_tensor = *make_panel("tensor", s.state());
  CHECK(std::any_of(shown_tensor.facts.begin(), shown_tensor.facts.end(),
                    [&](const Fact& f) { return f.id == "tensor" && f.cell.text == tensor; }));
}

TEST_CASE("side by side, memory is of the lane of the draft that needs most") {
  const planscope::testing::Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  must(s, "keep");
  s.wait();
  must(s, "compare 1");
  s.wait();
  const Panel beside = *make_panel("beside", s.state());
  for (const TableRow& r : beside.rows) {
    INFO(r.id);
    CHECK(r.command.starts_with("select lane=") == (r.id == "peak" || r.id == "weights" || r.id == "optimizer" || r.id == "gradients" || r.id == "activations" || r.id == "messages"));
    if (!r.command.empty()) must(s, r.command);
  }
}

TEST_CASE("a link of the cluster is selected by what is sent over it, and marked with it") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  const auto links = [&] {
    std::vector<std::string> out;
    for (const std::string& id : traffic_marks(s.state()))
      if (id.starts_with("link ")) out.push_back(id);
    return out;
  };
  CHECK(links().empty());
  const std::string name = s.state().document()->shown->study->traffic({})->links.at(0).name;
  must(s, "select link=\"" + name + "\"");
  CHECK(links() == std::vector<std::string>{"link 0"});
  for (const TableRow& r : traffic_panel(s.state()).rows) CHECK(r.selected);  // all of it goes over this one
  must(s, "select operators=\"L[0].mlp\"");
  CHECK(links() == std::vector<std::string>{"link 0"});  // whose result is reduced
  must(s, "select operators=\"lm_head\"");
  CHECK(!planscope::testing::run(s, "select link=\"nothing\"").ok());
}

TEST_CASE("the timeline marks all that was found, until nothing is selected") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  const auto sought = [&] { return viz::parse_timeline_marks(timeline_marks(s.state())).find; };
  CHECK(sought() == "");
  must(s, "seek c_proj");
  CHECK(sought() == "c_proj");
  CHECK(!viz::parse_timeline_marks(timeline_marks(s.state())).found_operators.empty());
  must(s, "seek_next");
  CHECK(sought() == "c_proj");
  must(s, "select none");
  CHECK(sought() == "");
  must(s, "seek_next");  // it is remembered
  CHECK(sought() == "c_proj");
  planscope::testing::write(s, "devices 2 as data=2\ntrans * batch by data\n");
  s.wait();
  CHECK(sought() == "");  // of another plan
}

TEST_CASE("the canvas of a comparison marks what is selected, in the lanes of every plan") {
  const planscope::testing::Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, "devices 2 as data=2\ntrans * batch by data\n");
  must(s, "keep");
  planscope::testing::write(s, kPlan);
  s.wait();
  must(s, "compare 1");
  s.wait();
  const auto marked_lanes = [&] {
    const viz::TimelineModel m = *viz::decode_timeline(compare_model(s.state()));
    const viz::MarkedBlocks marked = viz::marked_blocks(m, viz::parse_timeline_marks(compare_marks(s.state())));
    std::vector<std::string> out;
    for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l) {
      const std::vector<viz::Stream>& streams = m.lanes[static_cast<std::size_t>(l)].streams;
      bool some = false;
      for (int k = 0; k < static_cast<int>(streams.size()); ++k)
        some |= viz::marked_within(marked, l, k, 0, static_cast<int>(streams[static_cast<std::size_t>(k)].blocks.size())) > 0;
      if (some) out.push_back(m.lanes[static_cast<std::size_t>(l)].name);
    }
    return out;
  };
  const std::string draft = s.state().document()->comparison->entries.at(0).name;
  const std::string other = s.state().document()->comparison->entries.at(1).name;
  CHECK(marked_lanes().empty());
  must(s, "select operators=\"L[0].mlp\"");
  std::vector<std::string> lanes = marked_lanes();
  REQUIRE(lanes.size() == 2);  // where the draft runs it, and where the other plan does
  CHECK(lanes[0] == draft + " · pipe=0");
  CHECK(lanes[1].starts_with(other + " · "));
  must(s, "select none");
  const std::string lane = s.state().document()->shown->evaluation->made.program.classes.at(1).name;
  must(s, "select time=0..100 lane=\"" + lane + "\"");
  const viz::TimelineMarks marks = viz::parse_timeline_marks(compare_marks(s.state()));
  REQUIRE(marks.time);
  CHECK(marks.within == std::set<std::string>{draft + " · " + lane});
  must(s, "align share");
  CHECK(!viz::parse_timeline_marks(compare_marks(s.state())).time);  // the axis is not the step's
}

TEST_CASE("of communicators that are called alike each selects, marks and brushes itself alone") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/t5_tiny.pt2 plan=sample_models/plans/t5_tiny-table6.plan");
  s.wait();
  const Panel all = traffic_panel(s.state());
  std::set<std::string> commands;
  for (std::size_t k = 0; k < all.rows.size(); ++k) {
    const TableRow& row = all.rows[k];
    INFO(row.command);
    CHECK(commands.insert(row.command).second);
    must(s, row.command);
    const Panel now = traffic_panel(s.state());
    for (std::size_t other = 0; other < now.rows.size(); ++other) CHECK(now.rows[other].selected == (other == k));
    must(s, "brush selection=yes");
    const Panel alone = traffic_panel(s.state());
    REQUIRE(alone.rows.size() == 1);
    CHECK(alone.rows[0].command == row.command);
    CHECK(alone.rows[0].cells[2].text == row.cells[2].text);  // its devices
    must(s, "brush");
  }
  must(s, "select communicator=\"all_reduce over tensor\"");  // all that are called so
  const Panel now = traffic_panel(s.state());
  CHECK(std::count_if(now.rows.begin(), now.rows.end(), [](const TableRow& r) { return r.selected; }) == 3);
}

TEST_CASE("the canvas of the timeline and the table of its blocks mark the same") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  for (const auto& [name, line] : selections) {
    INFO(name);
    must(s, line);
    s.wait();
    const State state = s.state();
    const viz::TimelineModel m = *viz::decode_timeline(timeline_model(state));
    const viz::MarkedBlocks marked = viz::marked_blocks(m, viz::parse_timeline_marks(timeline_marks(state)));
    std::map<std::string, bool> drawn;
    for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l) {
      const std::vector<viz::Stream>& streams = m.lanes[static_cast<std::size_t>(l)].streams;
      for (int k = 0; k < static_cast<int>(streams.size()); ++k)
        for (int b = 0; b < static_cast<int>(streams[static_cast<std::size_t>(k)].blocks.size()); ++b) {
          const std::string id = std::to_string(l) + "/" + std::to_string(k) + "/" + std::to_string(b);
          drawn[id] = viz::is_marked(marked, {l, k, b});
        }
    }
    int rows = 0;
    const Panel blocks = blocks_panel(state);
    for (const TableRow& r : blocks.rows) {
      CHECK(r.selected == drawn.at(r.id));
      rows += r.selected;
    }
    CHECK((rows > 0) == (name != "none"));
  }
}

TEST_CASE("canvases mark tiles, communicators and edges where their tables mark the rows") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  must(s, "expand depth=9");
  const auto count = [](const std::vector<std::string>& ids, const std::string& what) {
    return std::count_if(ids.begin(), ids.end(), [&](const std::string& id) { return id.starts_with(what); });
  };
  const auto rows = [](const Panel& p) {
    return std::count_if(p.rows.begin(), p.rows.end(), [](const TableRow& r) { return r.selected; });
  };
  for (const auto& [name, line] : selections) {
    INFO(name);
    must(s, line);
    s.wait();
    const State state = s.state();
    CHECK(count(tensor_marks(state), "tile ") == rows(tiles_panel(state)));
    CHECK(count(traffic_marks(state), "communicator ") == rows(traffic_panel(state)));
    CHECK(count(graph_marks(state), "edge ") == rows(edges_panel(state)));
  }
}

TEST_CASE("a tile that is selected marks the tiles of its place, and leaves the operators those of the tensor") {
  Session s({.workspace = "", .cluster = "dgx-h100x1", .clock = nullptr});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  planscope::testing::write(s, kPlan);
  s.wait();
  must(s, "select tensor=\"transformer.h.0.mlp.c_proj:addmm#0\" place=\"pipe=0\"");
  s.wait();
  CHECK(s.state().selected->operators.size() == 1);
  CHECK(s.state().selected->devices == std::vector<int>{0, 1});
  const Panel tiles = tiles_panel(s.state());
  REQUIRE(!tiles.rows.empty());
  for (const TableRow& r : tiles.rows) {
    INFO(r.cells[2].text);
    CHECK(r.selected == (r.cells[2].text.find_first_of("01") != std::string::npos));
  }
}
