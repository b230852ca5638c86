#include <catch2/catch.hpp>
#include <ctime>

#include <random>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/bind.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/selection.h"
#include "engine/plan/template.h"
#include "engine/plan/variables.h"
#include "tests/engine/plan/files.h"
#include "tests/engine/plan/models.h"

using namespace planscope;
using namespace planscope::plan;

namespace {
Plan parsed(const std::string& text) {
  const Result<Plan> p = parse_plan(text, "a.plan");
  INFO(to_string(p.diagnostics));
  REQUIRE(p.ok());
  return *p;
}

Decisions bound(const std::string& text, const ModelInfo& model, const OpenValues& values = {}) {
  const Result<Decisions> d = plan::bind(parsed(text), model, values);
  INFO(to_string(d.diagnostics));
  REQUIRE(d.ok());
  return *d;
}

int operator_of(const ModelInfo& m, const std::string& module, const std::string& kind) {
  for (std::size_t i = 0; i < m.operators.size(); ++i)
    if (m.operators[i].module == module && m.operators[i].kind == kind) return static_cast<int>(i);
  FAIL("no operator " << module << ":" << kind);
  return -1;
}

std::string pair_text(const Decisions& d, const OrderPair& p) {
  const auto task = [&](const Task& t) {
    std::string out = std::string(to_string(t.phase)) + d.units[static_cast<std::size_t>(t.units[0])].name.substr(1);
    for (const auto& [axis, index] : t.index) out += "." + std::to_string(index);
    return out;
  };
  return task(p.before) + "<" + task(p.after);
}
}  // namespace

TEST_CASE("nested splits are ordered: as listed, else free axes first, else by declaration") {
  const ModelInfo m = llama({.layers = 1, .batch = 64});
  const Decisions d = bound(
      "devices 8 as row=2 col=4\naxis mb=2\naxis late=2\n"
      "trans lm_head batch by row, mb\n"
      "trans lm_head seq by col, row\n"
      "trans lm_head seq by late\n"
      "trans model.norm batch by row\n"
      "trans model.norm batch by mb\n"
      "trans model.norm batch by col\n",
      m);
  const auto names = [&](int op, const char* factor) {
    std::string out;
    const auto& factors = m.operators[static_cast<std::size_t>(op)].factors;
    for (std::size_t f = 0; f < factors.size(); ++f)
      if (factors[f].names[0] == factor)
        for (const int a : split_axes(d, op, static_cast<int>(f)))
          out += d.axes[static_cast<std::size_t>(a)].name + " ";
    return out;
  };
  const int head = operator_of(m, "lm_head", "linear"), norm = operator_of(m, "model.norm", "rms_norm");
  CHECK(names(head, "batch") == "mb ");  // row went to seq
  CHECK(names(head, "seq") == "late col row ");
  CHECK(names(norm, "batch") == "mb row col ");
}

TEST_CASE("1F1B orders the tasks that exist, and no others") {
  const ModelInfo m = llama({.layers = 2});
  const Decisions d = bound(
      "devices 2 as pipe=2\naxis mb=3\nlet S = cut model.layers[*] into |pipe|\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
      m);
  const auto pairs = enumerate_order(d);
  REQUIRE(pairs.ok());
  std::vector<std::string> texts;
  for (const OrderPair& p : *pairs) texts.push_back(pair_text(d, p));
  // n = 2. i=0: f[m+1] < b[m] < f[m+2]; i=1: f[m] < b[m] < f[m+1]. At m=-1 there is no b: its neighbours are ordered.
  CHECK(texts == std::vector<std::string>{"f[0].0<f[0].1", "f[0].1<b[0].0", "b[0].0<f[0].2", "f[0].2<b[0].1",
                                          "f[1].0<b[1].0", "b[1].0<f[1].1", "f[1].1<b[1].1", "b[1].1<f[1].2",
                                          "f[1].2<b[1].2"});
}

TEST_CASE("interleaved 1F1B gives every device one chain through all its tasks") {
  const ModelInfo m = llama({.layers = 8});
  const Decisions d = bound(
      "devices 4 as pipe=4\naxis mb=8\nlet S = cut model.layers[*] into 2*|pipe|\nuse interleaved(S, pipe, mb)\n", m);
  const auto pairs = enumerate_order(d);
  REQUIRE(pairs.ok());
  // Transitive closure on one device is total: 2 parts x 8 micro-batches x (f, b) = 32 tasks.
  for (int device = 0; device < 4; ++device) {
    std::map<std::string, int> ids;
    std::vector<std::vector<bool>> less(32, std::vector<bool>(32, false));
    const auto id = [&](const Task& t) {
      const std::string key = std::string(to_string(t.phase)) + d.units[static_cast<std::size_t>(t.units[0])].name +
                              std::to_string(t.index[0].second);
      const int n = ids.emplace(key, static_cast<int>(ids.size())).first->second;
      REQUIRE(n < 32);
      return static_cast<std::size_t>(n);
    };
    for (const OrderPair& p : *pairs) {
      const std::string& unit = d.units[static_cast<std::size_t>(p.before.units[0])].name;
      if ((unit[2] - '0') % 4 == device) less[id(p.before)][id(p.after)] = true;
    }
    CHECK(ids.size() == 32);
    for (std::size_t k = 0; k < 32; ++k)
      for (std::size_t i = 0; i < 32; ++i)
        for (std::size_t j = 0; j < 32; ++j) less[i][j] = less[i][j] || (less[i][k] && less[k][j]);
    for (std::size_t i = 0; i < 32; ++i) {
      CHECK_FALSE(less[i][i]);
      for (std::size_t j = 0; j < i; ++j) CHECK(less[i][j] != less[j][i]);
    }
  }
}

TEST_CASE("places list the devices of a grid with some axes fixed") {
  const ModelInfo m = llama({.layers = 2});
  const Decisions d = bound("devices 12 as pipe=2 data=3 tensor=2\nassign lm_head to pipe=1, tensor=0\n", m);
  const PlaceInfo& p = d.places[static_cast<std::size_t>(
      d.operator_place[static_cast<std::size_t>(operator_of(m, "lm_head", "linear"))])];
  CHECK(devices_of(d, p) == std::vector<int>{6, 8, 10});
  CHECK(axis_size(d, p, find_axis(d, "data")) == 3);
  CHECK(axis_size(d, p, find_axis(d, "pipe")) == 1);
}

TEST_CASE("open values: with them a plan binds as if they were written") {
  const ModelInfo m = llama({.layers = 8, .batch = 64});
  const std::string text =
      "devices 8 as pipe=?p data=?d tensor=?t where ?p * ?d * ?t = 8\naxis mb=2|4\nlet L = model.layers[*]\n"
      "let S = cut L into |pipe|\ntrans * batch by mb, data\ntrans L.mlp.down_proj ?dim by tensor where ?dim in "
      "{out,in}\n"
      "assign S[i] to pipe=i\nuse 1f1b(S)\n";
  const OpenValues values{{"p", 2}, {"d", 2}, {"t", 2}, {"mb", 4}, {"dim", "in"}};
  const Decisions d = bound(text, m, values);
  CHECK(d.complete);
  CHECK(open_summary(d, "run").empty());
  const Decisions written = bound(
      "devices 8 as pipe=2 data=2 tensor=2 where 2*2*2 = 8\naxis mb=4\nlet L = model.layers[*]\nlet S = cut L into "
      "|pipe|\n"
      "trans * batch by mb, data\ntrans L.mlp.down_proj in by tensor where in_is_a_word in {in_is_a_word}\n"
      "assign S[i] to pipe=i\nuse 1f1b(S)\n",
      m);
  CHECK(d.operator_splits == written.operator_splits);
  CHECK(d.operator_place == written.operator_place);
  CHECK(d.order == written.order);
  CHECK(open_summary(bound(text, m), "run") ==
        "run needs a complete plan; open: ?p (line 1), ?d (line 1), ?t (line 1), ?mb (line 2), ?dim (line 6). "
        "'planscope plan' fills them.");
}

TEST_CASE("open choices list what a planner decides") {
  const ModelInfo m = llama({.layers = 2});
  const Decisions d = bound(
      "devices 2 as tensor=2\ntrans model.layers[*].mlp.up_proj out|in|none by tensor\ntrans model.layers[*] "
      "recompute|keep\norder ?\n",
      m);
  const auto choices = open_choices(d, m);
  REQUIRE(choices.size() == 5);
  CHECK(choices[0].kind == OpenChoice::Kind::split);
  CHECK(choices[0].choices == std::vector<std::string>{"out", "in", "none"});
  CHECK(choices[2].kind == OpenChoice::Kind::algorithm);
  CHECK(choices[2].choices == std::vector<std::string>{"recompute", "keep"});
  CHECK(choices[4].kind == OpenChoice::Kind::order);
}

TEST_CASE("open choices are without what an axis does not divide") {
  const ModelInfo m = llama({.layers = 1});  // 8 sequences of 16, 2 key heads
  const auto choices = [&](const std::string& devices, const std::string& sizes = "") {
    const std::string trans = "trans model.layers[0].self_attn.k_proj heads|batch|seq by t";
    const auto all = open_choices(bound(devices + "\n" + trans + sizes + "\n", m), m);
    return join(all.back().choices, " ");
  };
  CHECK(choices("devices 2 as t=2") == "heads batch seq");
  CHECK(choices("devices 4 as t=4") == "batch seq");  // 4 blocks would cut inside a head
  CHECK(choices("devices 16 as t=16") == "seq");
  CHECK(choices("devices 16 as t=16", " sizes balanced") == "heads batch seq");
  CHECK(choices("devices 32 as t=32") == "heads batch seq");  // none: the message says why
  CHECK(choices("devices 16 as d=?d t=?t") == "heads batch seq");
}

TEST_CASE("a dimension that another operator reads in parts is refused with its whole size") {
  ModelInfo m = llama({.layers = 1, .batch = 4});
  OperatorInfo& head = m.operators[static_cast<std::size_t>(operator_of(m, "lm_head", "linear"))];
  for (FactorInfo& f : head.factors)
    if (f.names[0] == "batch") f.parts = {{2, "batch", false}, {2, "batch", true}};
  const Result<Decisions> d = plan::bind(parsed("devices 4 as data=4\ntrans lm_head batch by data\n"), m);
  REQUIRE_FALSE(d.ok());
  CHECK_THAT(d.diagnostics.front().what,
             Catch::Matchers::Contains("its batch of 4 is in 2 parts of 2, as another operator reads them, and 4 blocks "
                                       "would cut inside one of them"));
}

TEST_CASE("a planner's lines are told apart") {
  const Plan p = parsed("devices 2 as tensor=2\nauto trans lm_head out by tensor\n");
  CHECK(print(without_automatic(p)) == "devices 2 as tensor=2\n");
}

TEST_CASE("model sizes come from the model and the plan") {
  const std::vector<InputDimension> inputs{{"batch", 8}, {"seq", 16}};
  const auto sizes = model_sizes(parsed("let b = 32\nmodel batch=2*b\n"), inputs);
  REQUIRE(sizes.ok());
  CHECK(*sizes == InputSizes{{"batch", 64}, {"seq", 16}});
  const auto open = model_sizes(parsed("model batch=?b\n"), inputs, {{"b", 4}});
  CHECK(open->at("batch") == 4);
  CHECK(to_string(model_sizes(parsed("model bacth=2\n"), inputs).diagnostics) ==
        "a.plan:1: model bacth=2: no input dimension 'bacth'; the model has batch, seq.\n");
}

TEST_CASE("an expanded plan means what the plan with 'use' means") {
  const ModelInfo m = llama({.layers = 8, .batch = 64});
  for (const std::string use :
       {"use 1f1b(S)", "use gpipe(S)", "use interleaved(cut_all, pipe, mb)", "use tp(model.layers[*], tensor)",
        "use zero(3, *, data)", "use coshard(L.mlp, ffn, c)"}) {
    const std::string text =
        "devices 8 as pipe=2 data=2 tensor=2\naxis mb=4\naxis c=2\nlet L = model.layers[*]\nlet S = cut L into |pipe|\n"
        "let cut_all = cut L into 4\nlet X = lm_head\nlet v = 3\ntrans * batch by mb, data\nassign S[i] to pipe=i\n" +
        use + "\n";
    const Plan p = parsed(text);
    const Result<Plan> e = expand(p);
    REQUIRE(e.ok());
    const std::string expanded = print(*e);
    INFO(expanded);
    CHECK(expanded.find("# " + use) != std::string::npos);
    const Decisions a = bound(text, m);
    const Result<Decisions> again = plan::bind(*e, m);
    INFO(to_string(again.diagnostics));
    REQUIRE(again.ok());
    const Decisions& b = *again;
    const auto factors = [](const std::vector<Split>& table) {
      std::vector<int> out;
      for (const Split& s : table) out.push_back(s.statement < 0 ? -9 : s.factor);
      return out;
    };
    CHECK(factors(a.operator_splits) == factors(b.operator_splits));
    CHECK(factors(a.fetch_splits) == factors(b.fetch_splits));
    CHECK(a.operator_storage == b.operator_storage);
    CHECK(a.operator_place.size() == b.operator_place.size());
    CHECK(a.order.size() == b.order.size());
  }
}

TEST_CASE("templates that multiply are stopped") {
  std::string text;
  for (int level = 0; level < 7; ++level) {
    text += "template t" + std::to_string(level) + "(X)\n";
    for (int i = 0; i < 50; ++i) text += level < 6 ? "use t" + std::to_string(level + 1) + "(X)\n" : "\n";
    text += "end\n";
  }
  const Result<Plan> e = expand(parsed(text + "use t0(lm_head)\n"));
  REQUIRE(e.diagnostics.size() == 1);
  CHECK(e.diagnostics[0].what == "templates expand to too much here (more than 8 levels or 20000 statements).");
}

TEST_CASE("every built-in template says what it is, where it is from, when to use it, and what it costs") {
  std::set<std::string> names;
  for (const BuiltInTemplate& t : built_in_templates()) {
    names.insert(t.name);
    INFO(t.name);
    CHECK(t.about.size() > 20);
    CHECK(t.about.back() == '.');  // a whole sentence
    CHECK(t.about.find("Source:") == std::string::npos);
    for (const char* word : {"# Source: ", "# When: ", "# Cost: "}) CHECK(t.text.find(word) != std::string::npos);
    CHECK(parse_plan(t.text).diagnostics.empty());
  }
  for (const char* name : {"1f1b", "gpipe", "tp", "zero"}) CHECK(names.count(name) == 1);
}

TEST_CASE("every built-in template is used by a plan beside the sample models") {
  std::set<std::string> used;
  for (const TextFile& file : files_below("sample_models/plans", ".plan")) {
    const Plan plan = *parse_plan(file.text, file.path);
    for (const Statement& s : plan.statements)
      if (const auto* use = std::get_if<UseStatement>(&s.body)) used.insert(use->name);
  }
  for (const BuiltInTemplate& t : built_in_templates()) {
    INFO(t.name);
    CHECK(used.count(t.name) == 1);
  }
}

TEST_CASE("the examples in the headers of the primitives bind") {
  const ModelInfo m = llama({.layers = 4});
  int examples = 0;
  for (const std::string header :
       {"engine/plan/trans.h", "engine/plan/assign.h", "engine/plan/order.h", "engine/plan/relax.h"}) {
    const std::string text = [&] {
      std::ifstream in(header);
      std::stringstream s;
      s << in.rdbuf();
      return s.str();
    }();
    std::string example;
    for (const std::string& line : split(text, '\n'))
      for (const char* word : {"devices ", "let ", "axis ", "trans ", "assign ", "order ", "relax "})
        if (line.starts_with("//   " + std::string(word))) example += line.substr(5) + "\n";
    INFO(header << "\n" << example);
    const Result<Decisions> d = plan::bind(parsed(example), m);
    INFO(to_string(d.diagnostics));
    CHECK(std::count(example.begin(), example.end(), '\n') >= 5);
    CHECK(d.diagnostics.empty());
    CHECK(d->complete);
    ++examples;
  }
  CHECK(examples == 4);
}

TEST_CASE("variables are found by bisection, exactly") {
  std::mt19937 random(3);
  const std::vector<std::string> variables{"x", "y"};
  const std::vector<std::string> texts{"x+y", "2*x-y", "x/3", "x%4+y", "x*y", "y-x/2", "3-x", "x%3*2+y%2"};
  for (int round = 0; round < 300; ++round) {
    Problem p;
    p.variables = variables;
    for (const char* v : {"x", "y"})
      p.families.push_back({{make_name(v), 5 + static_cast<std::int64_t>(random() % 6)},
                            {*parse_expression(texts[random() % texts.size()]), 7}});
    p.least = 2;
    std::vector<std::vector<std::int64_t>> expected, found;
    for (std::int64_t x = -3; x < 15; ++x)
      for (std::int64_t y = -3; y < 15; ++y) {
        bool all = true;
        for (const auto& family : p.families)
          for (const Bounded& b : family) {
            const Number n = value_of(b.index, variables, {x, y});
            all = all && n.ok() && n.value >= 0 && n.value < b.size;
          }
        if (all) expected.push_back({x, y});
      }
    CHECK(enumerate(p, [&](const auto& v) {
            found.push_back(v);
            return true;
          }) == Enumeration::done);
    CHECK(found == expected);
  }
  Problem endless{{"x"}, {}, {}, 0};
  CHECK(enumerate(endless, [](const auto&) { return true; }) == Enumeration::unbounded);
}

TEST_CASE("globs match as a reference does") {
  const std::function<bool(std::string_view, std::string_view)> reference = [&](std::string_view p,
                                                                                std::string_view t) {
    if (p.empty()) return t.empty();
    if (p[0] == '*') return reference(p.substr(1), t) || (!t.empty() && reference(p, t.substr(1)));
    return !t.empty() && p[0] == t[0] && reference(p.substr(1), t.substr(1));
  };
  std::mt19937 random(5);
  const auto word = [&](const char* letters, std::size_t n) {
    std::string out;
    for (std::size_t i = random() % 7; i > 0; --i) out += letters[random() % n];
    return out;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string p = word("ab*", 3), t = word("ab", 2);
    INFO(p << " " << t);
    REQUIRE(glob_matches(p, t) == reference(p, t));
  }
}

TEST_CASE("random changes of plan files never crash or stall binding") {
  std::mt19937 random(11);
  const std::vector<ModelInfo> models{llama({.layers = 4}), gpt2({.layers = 3}), t5({.layers = 2})};
  auto files = files_below("tests/cases/plan/catalogue", ".plan");
  const std::vector<std::string> pieces{"",
                                        "[",
                                        "]",
                                        "?",
                                        "99999999999999999999",
                                        "1000000000000",
                                        "\n",
                                        "*",
                                        "|",
                                        "0",
                                        "-1",
                                        "i",
                                        "m*m",
                                        "%",
                                        "by ",
                                        "where ",
                                        "S",
                                        "L",
                                        "mb",
                                        "1000000000",
                                        "/0",
                                        ":",
                                        "cut ",
                                        "let S = "};
  for (int round = 0; round < 3000; ++round) {
    std::string text = files[random() % files.size()].text;
    for (int n = 1 + static_cast<int>(random() % 6); n > 0 && !text.empty(); --n) {
      const std::size_t at = random() % text.size();
      text.replace(at, random() % 3, pieces[random() % pieces.size()]);
    }
    INFO(text);
    const std::clock_t begin = std::clock();
    const Result<Plan> p = parse_plan(text, "a.plan");
    const Result<Decisions> d = plan::bind(*p, models[static_cast<std::size_t>(round) % models.size()]);
    REQUIRE(d.value.has_value());
    enumerate_order(*d, 100'000);
    open_choices(*d, models[static_cast<std::size_t>(round) % models.size()]);
    REQUIRE((std::clock() - begin) / CLOCKS_PER_SEC < 60);
  }
}

TEST_CASE("the plans of the catalogue that are written for Llama bind, but for what is not supported yet") {
  const ModelInfo m = llama({.layers = 32, .batch = 12288, .seq = 64, .hidden = 512, .heads = 32, .kv_heads = 8});
  const std::set<std::string> others{"10", "21", "22", "23", "24", "25", "27", "31"};  // other models, other sizes
  std::set<std::string> complete;
  for (const TextFile& file : files_below("tests/cases/plan/catalogue", ".plan")) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1, 2);
    if (file.path.find("templates") != std::string::npos || others.count(name)) continue;
    const Result<Decisions> d = plan::bind(*parse_plan(file.text, file.path), m);
    for (const Diagnostic& diagnostic : d.diagnostics) {
      INFO(to_string(diagnostic));
      CHECK((diagnostic.severity != Severity::error || diagnostic.what.find("not supported yet") != std::string::npos));
    }
    if (d.ok() && d->complete) complete.insert(name);
  }
  CHECK(complete == std::set<std::string>{"01", "02", "03", "04", "05", "06", "07", "08", "09",
                                          "11", "12", "13", "14", "15", "16", "17", "18", "19",
                                          "20", "26", "28", "29", "30", "32", "33", "34", "36"});
}

TEST_CASE("a range of an index is each of its tasks, where they exist") {
  const Decisions d = bound(
      "devices 1\naxis mb=4\nlet S = cut model.layers[*] into 2\n"
      "order f(S[0])[m:m+2] < b(S[1])[m]\norder f(S[0])[2:] < f(S[1])[0]\n",
      llama({.layers = 2}));
  std::vector<std::string> pairs;
  const Result<std::vector<OrderPair>> all = enumerate_order(d);
  REQUIRE(all.ok());
  for (const OrderPair& p : *all) pairs.push_back(pair_text(d, p));
  CHECK(pairs == std::vector<std::string>{"f[0].0<b[1].0", "f[0].1<b[1].0", "f[0].1<b[1].1", "f[0].2<b[1].1",
                                          "f[0].2<b[1].2", "f[0].3<b[1].2", "f[0].3<b[1].3", "f[0].2<f[1].0",
                                          "f[0].3<f[1].0"});
}

TEST_CASE("the example of docs/plan-language.md binds") {
  std::ifstream in("docs/plan-language.md");
  std::stringstream s;
  s << in.rdbuf();
  const std::string text = s.str();
  const std::size_t begin = text.find("```\n") + 4;
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  const Result<Decisions> d = plan::bind(parsed(example), llama({.layers = 8, .batch = 64}));
  INFO(to_string(d.diagnostics));
  CHECK(d.diagnostics.empty());
  CHECK(d->complete);
}

TEST_CASE("ten thousand wrong lines give a hundred messages and a count") {
  std::string text = "devices 2 as data=2\n";
  for (int i = 0; i < 10'000; ++i) text += "trans lm_head batch by x" + std::to_string(i) + "\n";
  const ModelInfo m = llama({.layers = 1});
  const Result<Decisions> d = plan::bind(parsed(text), m);
  REQUIRE(d.diagnostics.size() == kMostMessages + 1);
  CHECK(d.diagnostics.back().what == "… and 9,900 more");
  CHECK(d.has_errors());
}

TEST_CASE("a message about a long statement shows its beginning") {
  std::string selection = "lm_head";
  for (int i = 1; i < 4'000; ++i) selection += ", lm_head";
  const Result<Decisions> d = plan::bind(parsed("devices 1\ntrans " + selection + " batch by nope\n"), llama({.layers = 1}));
  REQUIRE(d.has_errors());
  CHECK(d.diagnostics[0].subject.size() < 210);
  CHECK(d.diagnostics[0].subject.ends_with("…"));
}

TEST_CASE("names of many uses of one template count on") {
  std::string text = "devices 1\ntemplate twice(X)\n  let Y = X\n  trans Y batch by mb\nend\naxis mb=2\n";
  for (int i = 0; i < 500; ++i) text += "use twice(lm_head)\n";
  const Result<Plan> expanded = expand_statements(parsed(text));
  const auto* last = std::get_if<LetStatement>(&expanded->statements[expanded->statements.size() - 2].body);
  REQUIRE(last != nullptr);
  CHECK(last->name == "Y_500");
}
