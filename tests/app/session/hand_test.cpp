// What is promised before a statement is written, and what it then comes to; the plan as text and as a grid.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "app/session/by_hand.h"
#include "app/session/lines.h"
#include "app/session/offers.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "app/workbench/explain_text.h"
#include "app/workbench/why.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

// A kept plan of a sample, evaluated.
void open(Session& s, const std::string& model, const std::string& text) {
  must(s, "open model=sample_models/" + model + ".pt2");
  REQUIRE(s.apply({"text", {{"text", text}}}).ok());
  must(s, "keep");
  s.wait();
  REQUIRE(to_json(chips_panel(s.state()))["verdict"] == "equivalent");
}

struct Case {
  std::string model, plan, operators;
};

const std::vector<Case> kCases = {
    {"gpt2_tiny", "devices 4 as data=2 tensor=2\ntrans * batch by data\nuse tp(transformer.h[*], tensor)\n",
     "transformer.h[*].mlp.c_fc"},
    {"llama_tiny",
     "devices 4 as data=2 tensor=2\nlet L = model.layers[*]\ntrans L.mlp.up_proj out by tensor\n"
     "trans * batch by data\n",
     "L.mlp"},
    {"t5_tiny", "devices 2 as tensor=2\n", "decoder.block[*].layer[2]"},
    {"mixtral_tiny",
     "devices 2 as pipe=2\naxis mb=2\nlet S = cut model.layers[*] into 2\ntrans * batch by mb\n"
     "assign S[i] to pipe=i\nuse 1f1b(S)\n",
     "S[1]"},
};

}  // namespace

TEST_CASE("an alternative costs what was predicted for it, and is one line", "[slow]") {
  const Scratch scratch;
  for (const Case& c : kCases) {
    INFO(c.model);
    Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
    open(s, c.model, c.plan);
    must(s, "select operators=\"" + c.operators + "\"");
    s.wait();
    const Json before = panel(s, "operator");
    int figures = 0, refused = 0;
    for (const Json& a : before["alternatives"]) {
      const std::string statement = a["statement"];
      INFO(statement);
      const Result<Done> done = s.apply({"put", {{"statement", statement}}});
      if (a["step_delta_us"].is_null()) {
        ++refused;
        CHECK_FALSE(done.ok());
        CHECK(text_of(s) == c.plan);
        continue;
      }
      ++figures;
      INFO(to_string(done.diagnostics));
      REQUIRE(done.ok());
      const std::vector<std::string> was = lines_of(c.plan), is = lines_of(text_of(s));
      REQUIRE(is.size() <= was.size() + 1);
      CHECK(std::count_if(is.begin(), is.end(),
                          [&](const std::string& l) { return std::count(was.begin(), was.end(), l) == 0; }) <= 1);
      s.wait();
      const Json chips = panel(s, "chips");
      if (text_of(s) != c.plan) {
        REQUIRE(chips["preview"].is_object());
        CHECK(chips["preview"]["step_delta_us"].get<double>() == Approx(a["step_delta_us"].get<double>()).margin(1e-6));
        CHECK(chips["preview"]["verdict"] == "equivalent");
        const int line = static_cast<int>(std::find(is.begin(), is.end(), statement) - is.begin()) + 1;
        const Json decisions = panel(s, "operator")["decisions"];
        CHECK(std::any_of(decisions.begin(), decisions.end(), [&](const Json& d) { return d["line"] == line; }));
        must(s, "drop");
        s.wait();
      }
    }
    CHECK(figures > 2);
  }
}

TEST_CASE("an operator's panel says what explain says") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  open(s, kCases[0].model, kCases[0].plan);
  const std::string operators = kCases[0].operators + ":addmm";
  must(s, "select operators=\"" + operators + "\"");
  s.wait();
  const State state = s.state();
  const Picture& p = *state.document()->shown;
  MaterializeCache cache;
  const std::atomic<bool> stop = false;
  const BasePlan base{state.document()->model->graph, p.plan, *p.cluster, cache, *p.evaluation, 60, stop};
  const Result<Why> w = why(base, operators, {});
  REQUIRE(w.ok());
  REQUIRE(w->answers.size() == 1);
  const Json shown = panel(s, "operator");
  CHECK(shown["operators"] == w->answers[0].operators);
  CHECK(shown["count"] == w->answers[0].count);
  std::map<std::string, Tried> expected;
  std::size_t k = 0;
  for (const ChoiceAnswer& c : w->answers[0].choices) {
    CHECK(shown["decisions"][k++]["text"] == decided_text(base, w->answers[0], c));
    for (const Tried& t : c.alternatives) expected[t.statement] = t;
  }
  CHECK(shown["decided_by"]["line"] == 3);
  REQUIRE(shown["alternatives"].size() == expected.size());
  double last = -1e30;
  for (const Json& a : shown["alternatives"]) {
    const Tried& t = expected.at(a["statement"]);
    CHECK(a["verdict"] == to_string(t.verdict));
    CHECK(a["by"] == by_json(t));
    if (!has_figures(t)) continue;
    CHECK(a["step_delta_us"].get<double>() == t.delta_us);
    CHECK(a["peak_delta_bytes"].get<std::int64_t>() == t.delta_bytes);
    CHECK(t.delta_us >= last);  // the cheapest first
    last = t.delta_us;
  }
}

TEST_CASE("the newest selection is looked at, whatever was under way") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  open(s, "llama_tiny", kCases[1].plan);
  for (int round = 0; round < 10; ++round)
    for (const char* module : {"mlp.up_proj", "mlp.down_proj", "self_attn.q_proj", "input_layernorm"})
      must(s, std::string("select operators=\"L.") + module + "\"");
  must(s, "append \"trans L recompute\"");
  s.wait();
  const Json shown = panel(s, "operator");
  CHECK(shown["operators"] == "L.input_layernorm");
  CHECK_FALSE(shown.contains("reason"));
  CHECK_FALSE(shown["alternatives"].empty());
  must(s, "select none");
  CHECK(operator_panel(s.state()).rows.empty());
}

TEST_CASE("a statement takes the place of one that it makes superfluous, and of no other") {
  Result<OpenModel> m = open_model("sample_models/llama_tiny.pt2", nullptr);
  REQUIRE(m.ok());
  MaterializeCache cache;
  const auto with = [&](const std::string& text, const std::string& statement) {
    const Result<WithStatement> w = with_statement(m->graph, text, statement, "a.plan", cache);
    INFO(to_string(w.diagnostics));
    REQUIRE(w.ok());
    CHECK(lines_of(w->text)[static_cast<std::size_t>(w->line) - 1] == statement);
    return w->text;
  };
  const std::string head = "devices 4 as a=2 b=2\nlet L = model.layers[*]\n";
  const std::string up = "trans L.mlp.up_proj ", out = up + "out by a\n", in = up + "in by a";
  CHECK(with(head + out, in) == head + in + "\n");
  // Another axis is another decision.
  CHECK(with(head + out, up + "in by b") == head + out + up + "in by b\n");
  // A later line decides the same: the old place would have no effect.
  const std::string later = "trans L.mlp batch by a\n";
  CHECK(with(head + out + later, in) == head + out + later + in + "\n");
  // The old line decides more than the new one: some operators of the module have no factor `ffn`.
  const std::string all = "trans L batch by a\n";
  CHECK(with(head + all, "trans L ffn by a") == head + all + "trans L ffn by a\n");
  CHECK(with(head + all, "trans L seq by a") == head + "trans L seq by a\n");
  // Conditions and orders stay.
  CHECK(with(head + "trans L recompute\n", "trans L offload") == head + "trans L offload\n");
  CHECK(with(head + "trans L[i] recompute where i < 2\n", "trans L offload") ==
        head + "trans L[i] recompute where i < 2\ntrans L offload\n");
  // What is wrong elsewhere does not matter; what is wrong here does.
  CHECK(with("nonsense\n" + head, in) == "nonsense\n" + head + in + "\n");
  for (const char* wrong :
       {"trans L.mlp.up_proj nothing by a", "trans L.mlp.up_proj out by c", "trans", "trans nowhere out by a"}) {
    const Result<WithStatement> w = with_statement(m->graph, head, wrong, "a.plan", cache);
    REQUIRE_FALSE(w.ok());
    CHECK(w.diagnostics[0].subject == wrong);
  }
}

TEST_CASE("the grid and the text are one document") {
  const std::string plan =
      "# of a test\ndevices 4 as pipe=2 data=2\n\naxis mb=4   # micro-batches\nlet S = cut transformer.h[*] into 2\n"
      "  trans * batch by mb, data\nassign S[i] to pipe=i\nauto trans S[0] recompute\nuse 1f1b(S)\n";
  struct Edit {
    std::string by_grid;
    std::vector<std::pair<int, std::string>> by_text;  // lines and what they are then; empty: removed
  };
  const std::vector<Edit> edits = {
      {"toggle 6", {{6, "#   trans * batch by mb, data"}}},
      {"toggle 7", {{7, "# assign S[i] to pipe=i"}}},
      {"lock 8", {{8, "trans S[0] recompute"}}},
      {"lock 7 off", {{7, "auto assign S[i] to pipe=i"}}},
      {"duplicate 8", {{8, "auto trans S[0] recompute\nauto trans S[0] recompute"}}},
      {"move 9 to=8", {{8, "use 1f1b(S)"}, {9, "auto trans S[0] recompute"}}},
  };
  const Scratch scratch;
  Session grid({.workspace = scratch.file("a"), .cluster = "dgx-h100x1"}),
      text({.workspace = scratch.file("b"), .cluster = "dgx-h100x1"});
  open(grid, "gpt2_tiny", plan);
  open(text, "gpt2_tiny", plan);
  for (const Edit& e : edits) {
    INFO(e.by_grid);
    must(grid, e.by_grid);
    std::vector<std::string> lines = lines_of(plan);
    for (const auto& [line, now] : e.by_text) lines[static_cast<std::size_t>(line) - 1] = now;
    REQUIRE(text.apply({"text", {{"text", session::text_of(lines)}}}).ok());
    CHECK(text_of(grid) == text_of(text));
    grid.wait();
    text.wait();
    Json by_grid = panel(grid, "constraints"), by_text = panel(text, "constraints");
    by_grid.erase("seen"), by_text.erase("seen");  // each session numbers its own texts
    CHECK(by_grid == by_text);
    must(grid, "drop");
    CHECK(text_of(grid) == plan);
  }
  // Twice is back, byte for byte.
  for (const int line : {2, 4, 5, 6, 7, 8, 9}) {
    must(grid, "toggle " + std::to_string(line));
    CHECK(text_of(grid) != plan);
    must(grid, "toggle " + std::to_string(line));
    CHECK(text_of(grid) == plan);
  }
  for (const char* no :
       {"toggle 1", "toggle 3", "toggle 10", "lock 7", "lock 8 off", "lock 3", "move 1 to=10", "duplicate 0"}) {
    INFO(no);
    CHECK_FALSE(run(grid, no).ok());
    CHECK(text_of(grid) == plan);
  }
}

TEST_CASE("a template whose arguments the plan has is inserted as it stands, else they are asked for") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  open(s, "gpt2_tiny",
       "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\n"
       "trans * batch by mb\nassign S[i] to pipe=i\n");
  const std::string before = text_of(s);
  for (const TableRow& row : templates_panel(s.state()).rows) {
    INFO(row.id);
    if (row.id != "1f1b" && row.id != "gpipe") continue;
    REQUIRE(parse_invocation(row.command).ok());
    must(s, row.command);
    CHECK(text_of(s) == before + "use " + row.id + "(S)\n");
    s.wait();
    CHECK(panel(s, "chips")["preview"]["verdict"] == "equivalent");
    must(s, "drop");
  }
  for (const TableRow& row : templates_panel(s.state()).rows)
    if (row.id == "tp") CHECK(row.command == "template");
}

TEST_CASE("words behind a command are its last argument") {
  const auto argument = [](const std::string& line, const std::string& name) {
    const Result<Invocation> i = parse_invocation(line);
    INFO(line);
    REQUIRE(i.ok());
    const Result<Invocation> again = parse_invocation(print(*i));
    REQUIRE(again.ok());
    CHECK(again->arguments == i->arguments);
    return i->get(name);
  };
  CHECK(argument("split out by tensor, data", "by") == "tensor, data");
  CHECK(argument("split out tensor", "by") == "tensor");
  CHECK(argument("split factor=out by=tensor", "by") == "tensor");
  CHECK(argument("split by by by", "factor") == "by");
  CHECK(argument("assign to pipe=0, data=1", "to") == "pipe=0, data=1");
  CHECK(argument("assign G[1]", "to") == "G[1]");
  CHECK(argument("template tp(L, tensor)", "use") == "tp(L, tensor)");
  CHECK(argument("whole", "by").empty());
  CHECK(argument("whole by tensor", "by") == "tensor");
  CHECK(to_string(parse_invocation("version 99999999999999999999").diagnostics) ==
        "'version': number is too large: '99999999999999999999'; a number has at most 9 digits\n");
  CHECK_FALSE(parse_invocation("split out").ok());
  CHECK_FALSE(parse_invocation("split out by").ok());
  CHECK_FALSE(parse_invocation("assign to").ok());
}

TEST_CASE("what takes the reason of a refusal away is a command, which does so") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  open(s, "gpt2_tiny", "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
                       "assign S[i] to pipe=i\norder f(S[1])[3] < b(S[1])[1]\n");
  const Invocation order = *parse_invocation("order \"b(S[1])[1]\" before=\"f(S[1])[3]\"");
  const Result<Done> refused = s.apply(order);
  REQUIRE_FALSE(refused.ok());
  const std::vector<Offer> ways = ways_out(order, refused.diagnostics.front());
  REQUIRE(ways.size() == 1);
  CHECK(ways[0].title == "Relax line 6");
  must(s, ways[0].command);
  CHECK(s.apply(order).ok());

  const std::string file = scratch.write("a.plan", "# of somebody else\n");
  const Invocation save{"save", {{"path", file}}};
  const Result<Done> exists = s.apply(save);
  REQUIRE_FALSE(exists.ok());
  const std::vector<Offer> over = ways_out(save, exists.diagnostics.front());
  REQUIRE(over.size() == 1);
  CHECK(over[0].title == "Save plan, overwrite");
  must(s, over[0].command);
  CHECK(scratch.read("a.plan") == text_of(s));
}

TEST_CASE("a statement of any kind costs what was predicted for it", "[slow]") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string plan = "devices 4 as pipe=2 data=2\naxis mb=4\nmodel batch=8\nlet L = transformer.h[*]\n"
                           "let S = cut L into |pipe|\ntrans * batch by mb, data\nassign S[i] to pipe=i\n";
  open(s, "gpt2_tiny", plan);
  const std::vector<std::vector<std::string>> kinds = {
      {"order b(S[1])[0] < f(S[1])[1]", "order \"b(S[1])[0]\" before=\"f(S[1])[1]\""},
      {"use 1f1b(S)", "template 1f1b(S)"},
      {"require memory(all) <= 80GiB", "require memory(all) <= 80GiB"},
      {"forbid trans L none by data", "forbid trans L none by data"},
      {"axis c=2", "axis c 2"},
      {"let M = L.mlp", "let M L.mlp"},
      {"grid half = 0:2", "grid half 0:2"},
      {"relax fetch(L) lag 1", "lag 1"},
      {"trans L keep_gathered", "keep_gathered"},
      {"trans L grad_split", "grad_split"},
      {"trans L recompute", "recompute"},
      {"trans L offload", "offload"},
      {"trans L none by data", "whole by data"},
      {"trans L batch by data", "split batch by data"},
      {"assign L to pipe=1", "assign to pipe=1"},
  };
  must(s, "select operators=\"L\"");
  for (const std::vector<std::string>& kind : kinds) {
    INFO(kind[0]);
    must(s, "try \"" + kind[0] + "\"");
    s.wait();
    const Tried promised = *s.state().document()->tried->tried;
    const Result<Done> done = run(s, kind[1]);
    INFO(to_string(done.diagnostics) << promised.reason);
    CHECK(done.ok() == has_figures(promised));
    if (!done.ok()) continue;
    s.wait();
    const std::vector<std::string> lines = lines_of(text_of(s));
    CHECK(lines.size() == lines_of(plan).size() + 1);
    CHECK(lines.back() == kind[0]);
    const Json change = chips(s)["preview"];
    CHECK(change["step_delta_us"].get<double>() == Approx(promised.delta_us).margin(0.001));
    CHECK(change["peak_delta_bytes"].get<std::int64_t>() == promised.delta_bytes);
    must(s, "drop");
    s.wait();
  }
}

TEST_CASE("a text between two lines is one command, and is refused without its end") {
  const Result<Invocation> i = parse_invocation("text <<END  # of two lines\ndevices 2\r\n\nEND\r\n");
  REQUIRE(i.ok());
  CHECK(i->id == "text");
  CHECK(i->get("text") == "devices 2\r\n\n");
  CHECK(parse_invocation("text \"<<END\"")->get("text") == "<<END");
  CHECK(to_string(parse_invocation("text <<END").diagnostics) == "the text has no end; there is no line 'END' behind it\n");
  CHECK(to_string(parse_invocation("text <<END\ndevices 2").diagnostics) ==
        "the text has no end; there is no line 'END' behind it\n");
  CHECK_FALSE(parse_invocation("text <<END\nEND\nkeep").ok());
}
