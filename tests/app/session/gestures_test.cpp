// What is offered for a thing that was pointed at, what helps to write a value, and what is preferred.
#include <algorithm>
#include <set>

#include "app/session/choices.h"
#include "app/session/commands.h"
#include "app/session/layout.h"
#include "app/session/offers.h"
#include "app/session/value_help.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

const std::string kStages =
    "devices 4 as pipe=2 data=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb, data\n"
    "assign S[i] to pipe=i\n# trans S[0] offload\n";

void open(Session& s) {
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  write(s, kStages);
  must(s, "keep");
  s.wait();
}

const Offer* find(const Offers& all, const std::string& title, const std::string& group = "") {
  for (const Offer& o : all.all)
    if (o.title == title && o.group == group) return &o;
  return nullptr;
}

}  // namespace

TEST_CASE("a line of the plan offers what rows of the grid can do, and each offer does it") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  const Offers all = offers(s.state(), "select statement=4");
  CHECK(all.select);
  CHECK(find(all, "Switch it on") == nullptr);
  REQUIRE(find(all, "Switch it off") != nullptr);
  must(s, find(all, "Switch it off")->command);
  CHECK(text_of(s).find("# trans * batch by mb, data\n") != std::string::npos);
  const Offers off = offers(s.state(), "select statement=4");
  must(s, find(off, "Switch it on")->command);
  CHECK(text_of(s) == kStages);
  must(s, find(all, "Move it up")->command);
  CHECK(text_of(s).find("trans * batch by mb, data\nlet S") != std::string::npos);
  must(s, "undo");
  must(s, find(all, "Leave it to the planner")->command);
  CHECK(text_of(s).find("auto trans * batch by mb, data\n") != std::string::npos);
  must(s, find(offers(s.state(), "select statement=4"), "Lock it: the planner keeps it")->command);
  must(s, find(all, "Duplicate it")->command);
  must(s, find(all, "Remove it")->command);
  CHECK(text_of(s) == kStages);
  const Offer* change = find(all, "Change the line…");
  REQUIRE(change != nullptr);
  CHECK(change->asks);
  CHECK(value_now(s.state(), *parse_begun(change->command), "statement") == "trans * batch by mb, data");
  for (const char* line : {"four", "-1", "0", "99", "99999999999999999999", ""}) {  // as somebody writes it
    CHECK(value_now(s.state(), {"replace", {{"line", line}, {"seen", "1"}}}, "statement") == "");
    CHECK(complete_value(s.state(), {"change", {{"line", line}, {"part", "value"}, {"seen", line}}}, "value", "x", 1).items.empty());
  }
  CHECK(find(offers(s.state(), "select statement=1"), "Move it up") == nullptr);
  CHECK(find(offers(s.state(), "select statement=6"), "Move it down") == nullptr);
}

TEST_CASE("operators are offered every factor and axis, with the figures that then come true") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  const std::string line = "select operators=transformer.h[*].mlp.c_fc";
  const Offers before = offers(s.state(), line);
  REQUIRE(find(before, "out by data", "Split") != nullptr);
  CHECK(find(before, "out by data", "Split")->beside.empty());  // it is not selected: nothing has been tried
  must(s, line);
  s.wait();
  const Offers all = offers(s.state(), line);
  const Offer* out = find(all, "out by data", "Split");
  REQUIRE(out != nullptr);
  REQUIRE_FALSE(out->beside.empty());
  must(s, out->command);
  CHECK(text_of(s) == kStages + "trans transformer.h[*].mlp.c_fc out by data\n");
  s.wait();
  const std::string change = make_panel("chips", s.state())->facts.back().cell.text;
  INFO(change << " | " << out->beside);
  CHECK(change.starts_with(out->beside));  // step and peak
  for (const char* group : {"Instead", "Split", "Memory", "Run at", "Template"}) {
    INFO(group);
    CHECK(std::any_of(all.all.begin(), all.all.end(), [&](const Offer& o) { return o.group == group; }));
  }
}

TEST_CASE("a menu says how much there is that it does not show, and asks for it") {
  Session s({.cluster = "dgx-h100x16"});
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  write(s, "devices 128 as data=128\ntemplate mine(X, t)\ntrans X batch by t\nend\n");
  s.wait();
  const std::string line = "select operators=transformer.h[*].mlp.c_fc";
  const Offers all = offers(s.state(), line);
  const auto at = std::count_if(all.all.begin(), all.all.end(), [](const Offer& o) { return o.group == "Run at" && !o.asks; });
  CHECK(at == 32);
  const Offer* more = find(all, "… 97 more", "Run at");  // of 128 devices and the grid of all
  REQUIRE(more != nullptr);
  CHECK(more->asks);
  CHECK(more->command == "put statement=\"assign transformer.h[*].mlp.c_fc to \"");
  const std::vector<Choice> places = choices(s.state(), "assign", "to");
  REQUIRE(places.size() == 65);
  CHECK(places.back().about.find("64 more, up to data=127") != std::string::npos);

  // The plan's own templates come first, on either surface.
  const Offer* mine = find(all, "mine", "Template");
  REQUIRE(mine != nullptr);
  CHECK(mine->command == "template use=\"mine(transformer.h[*].mlp.c_fc, t)\"");
  CHECK(choices(s.state(), "template", "use")[0].value == "mine(X, t)");
}

TEST_CASE("a task of the timeline is offered what was tried for what it does") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  write(s, kStages + "use 1f1b(S)\n");
  s.wait();
  const std::shared_ptr<const Evaluation> e = s.state().document()->shown->evaluation;
  const ClassTimeline& lane = e->simulation.classes[1];
  const auto block = std::find_if(lane.slots.begin(), lane.slots.end(), [&](const SlotBlock& b) {
    return label(e->made.program, b) == "b(S[1])[1]";
  });
  REQUIRE(block != lane.slots.end());
  const auto us = [](Nanoseconds t) { return std::to_string(static_cast<double>(t) / 1000); };
  const std::string line = "select none time=" + us(block->start) + ".." + us(block->end) + " lane=pipe=1 stream=compute";
  must(s, line);
  s.wait();
  CHECK(s.state().selection.place == "pipe=1");
  CHECK(s.state().inspection->operators == "S[1]");
  const Offers all = offers(s.state(), line);
  CHECK(all.title == "b(S[1])[1]");
  CHECK(std::any_of(all.all.begin(), all.all.end(), [](const Offer& o) { return o.group == "Instead" && !o.beside.empty(); }));
  const Offer* recompute = find(all, "Recompute", "Memory");
  REQUIRE(recompute != nullptr);
  CHECK_FALSE(recompute->beside.empty());
}

TEST_CASE("a single instruction of the timeline is offered what was tried for its operators, and the order of its task") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  write(s, kStages + "use 1f1b(S)\n");
  s.wait();
  const State state = s.state();
  const Picture& shown = *state.document()->shown;
  const std::vector<SlotBlock>& slots = shown.evaluation->simulation.classes[1].slots;
  const auto task = std::find_if(slots.begin(), slots.end(), [&](const SlotBlock& b) {
    return label(shown.evaluation->made.program, b) == "f(S[1])[1]";
  });
  REQUIRE(task != slots.end());
  const auto near = shown.study->simulation(Window{task->start, task->end});
  const InstructionBlock* longest = nullptr;
  for (const InstructionBlock& b : near->simulation.classes[1].instructions)
    if (b.stream == Stream::compute && b.start >= task->start && b.end <= task->end &&
        (!longest || b.end - b.start > longest->end - longest->start))
      longest = &b;
  REQUIRE(longest != nullptr);
  const auto us = [](Nanoseconds t) { return std::to_string(static_cast<double>(t) / 1000); };
  const std::string line = "select none time=" + us(longest->start) + ".." + us(longest->end) + " lane=pipe=1 stream=operators";
  must(s, line);
  s.wait();
  const std::string operators = s.state().selection.operators;
  REQUIRE_FALSE(operators.empty());
  CHECK(s.state().inspection->operators == operators);
  const Offers all = offers(s.state(), line);
  CHECK(all.title == operators);
  CHECK(std::any_of(all.all.begin(), all.all.end(), [](const Offer& o) { return o.group == "Instead" && !o.beside.empty(); }));
  CHECK(find(all, "Before…", "Order") != nullptr);
  CHECK(find(all, "Before…", "Order")->command == "order before=\"\" task=\"f(S[1])[1]\"");
}

TEST_CASE("what was tried and refused is offered with the reason") {
  Session s({.cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/llama_tiny.pt2");
  write(s, "devices 4 as tensor=4\nforbid trans model.layers[*].mlp.up_proj in by tensor\n");
  must(s, "select operators=model.layers[*].mlp.up_proj");
  s.wait();
  const Offers all = offers(s.state(), "select operators=model.layers[*].mlp.up_proj");
  const Offer* in = find(all, "in by tensor", "Split");
  REQUIRE(in != nullptr);
  CHECK_FALSE(in->reason.empty());
  CHECK_FALSE(run(s, in->command).ok());
  for (const Offer& o : all.all) {  // whatever is offered without a reason can be done
    if (o.asks || !o.reason.empty() || o.group != "Split") continue;
    INFO(o.command);
    CHECK(run(s, o.command).ok());
    must(s, "undo");
  }
}

TEST_CASE("a place takes what is selected, and says why it cannot") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  const Offers none = offers(s.state(), "select place=pipe=1");
  CHECK_FALSE(none.select);  // so that what is selected stays so
  REQUIRE(find(none, "Run here what is selected") != nullptr);
  CHECK(find(none, "Run here what is selected")->reason == "no operators are selected");
  must(s, "select operators=lm_head");
  const Offers some = offers(s.state(), "select place=pipe=1");
  REQUIRE(find(some, "Run lm_head here") != nullptr);
  must(s, find(some, "Run lm_head here")->command);
  CHECK(text_of(s).ends_with("assign lm_head to pipe=1\n"));
}

TEST_CASE("what the planner has found from nothing can be compared") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  must(s, "plan whole");
  s.wait();
  const std::size_t found = s.state().document()->planner->candidates.size();
  REQUIRE(found > 1);
  const std::vector<Choice> all = choices(s.state(), "compare", "plans");
  REQUIRE(all.size() >= found);
  CHECK(all[0].value == "candidate:1");
  CHECK(all[found - 1].value == "candidate:" + std::to_string(found));
  CHECK(all[0].about.find(", step ") != std::string::npos);
}

TEST_CASE("rows that select nothing offer what they do, and what goes with it") {
  Session s({.cluster = "dgx-h100x1"});
  CHECK(offers(s.state(), "no such command").all.empty());
  CHECK(offers(s.state(), "select statement=1").all[0].reason == "no model is open");
  open(s);
  const Offers version = offers(s.state(), "version 1");
  CHECK(find(version, "Go to version") != nullptr);
  CHECK(find(version, "Compare with it") != nullptr);
  CHECK(offers(s.state(), "select statement=99").all.empty());
}

TEST_CASE("a plan of the workspace can be compared with the draft") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  open(s);
  const Offers plan = offers(s.state(), "open plan=1");
  REQUIRE(find(plan, "Compare with it") != nullptr);
  CHECK(find(plan, "Compare with it")->command == "compare plans=\"1\"");
  CHECK(find(plan, "Rename…", "Workspace") != nullptr);
  CHECK(find(offers(s.state(), "open model=" + s.state().document()->model->model->path), "Compare with it") == nullptr);
}

TEST_CASE("a value is completed where it stands in its statement, and says what it means") {
  Session s({.cluster = "dgx-h100x1"});
  open(s);
  const auto items = [&](const std::string& line, const std::string& argument, const std::string& value) {
    std::vector<std::string> out;
    for (const CompletionItem& i : complete_value(s.state(), *parse_begun(line), argument, value, value.size()).items)
      out.push_back(i.text);
    return out;
  };
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  CHECK(has(items("change 4 operators", "value", "transformer.h[*].ml"), "transformer.h[*].mlp"));
  CHECK(has(items("change 4 operators", "value", "mlp"), "transformer.h[*].mlp"));  // by one of its names
  CHECK(has(items("change 4 argument", "value", "batch by da"), "data"));
  CHECK(has(items("append", "statement", "tra"), "trans"));
  CHECK(has(items("append", "statement", "use 1f"), "1f1b("));
  CHECK(has(items("prefer", "name", "th"), "theme"));
  CHECK(items("change 99 operators", "value", "x").empty());
  const std::string value = "trans lm_head recompute by da";
  const session::Completion c = complete_value(s.state(), *parse_begun("append"), "statement", value, value.size());
  CHECK(c.from == value.size() - 2);

  const auto note = [&](const std::string& operators) {
    return value_note(s.state(), *parse_begun("change 4 operators"), "value", operators);
  };
  must(s, "select operators=*");
  s.wait();
  const int count = static_cast<int>(panel(s, "operator")["count"]);
  CHECK(note("*") == std::to_string(count) + " operators");
  CHECK(note("transformer.h[*].mpl").starts_with("✗ "));
  CHECK(note("transformer.h[*].mpl").find("mlp") != std::string::npos);
}

TEST_CASE("preferences are beside the workspace: the next session has them, a damaged file loses nothing") {
  const Scratch scratch;
  const std::string workspace = scratch.file("w");
  {
    Session s({.workspace = workspace});
    must(s, "prefer theme light");
    must(s, "prefer cluster dgx-h100x1");
  }
  scratch.write("w.preferences", scratch.read("w.preferences") + "scale = 5000 %\nof_a_later_version = 7\nno equals\n");
  Session s({.workspace = workspace});
  CHECK(s.state().preferences.get("theme") == "light");
  CHECK(s.state().preferences.get("scale") == "100 %");
  REQUIRE(s.state().messages.size() == 1);
  CHECK(to_string(s.state().messages[0]).find("w.preferences:3") != std::string::npos);
  must(s, "open model=sample_models/gpt2_tiny.pt2");
  CHECK(s.state().document()->cluster == "dgx-h100x1");
  Session other({.workspace = workspace, .cluster = "dgx-a100x1"});  // what the program is told goes before
  must(other, "open model=sample_models/gpt2_tiny.pt2");
  CHECK(other.state().document()->cluster == "dgx-a100x1");
  must(other, "prefer theme dark");
  s.refresh();
  CHECK(s.state().preferences.get("theme") == "dark");
  CHECK(scratch.read("w.preferences").find("of_a_later_version = 7\n") != std::string::npos);
}

TEST_CASE("a plan's file that is open already is gone to, with its edits") {
  const Scratch scratch;
  const std::string plan = scratch.write("a.plan", kStages);
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=sample_models/gpt2_tiny.pt2 plan=" + plan);
  must(s, "append \"# edited\"");
  must(s, "open model=sample_models/llama_tiny.pt2");
  must(s, "open model=sample_models/gpt2_tiny.pt2 plan=" + plan + " cluster=dgx-a100x1");
  REQUIRE(s.state().documents.size() == 2);
  CHECK(text_of(s) == kStages + "# edited\n");
  CHECK(s.state().document()->cluster == "dgx-a100x1");
  must(s, "open model=sample_models/llama_tiny.pt2 plan=" + plan);  // for another model it is another document
  CHECK(s.state().documents.size() == 3);
}

TEST_CASE("the shipped layout has every panel once") {
  std::set<std::string> placed;
  for (const PanelPlace& p : shipped_layout()) CHECK(placed.insert(p.panel).second);
  for (const PanelInfo& p : panels()) CHECK(placed.erase(p.id) == 1);
  CHECK(placed.empty());  // and no other
}
