#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "tests/engine/plan/files.h"
#include "tests/engine/plan/random_plan.h"

using namespace planscope;
using namespace planscope::plan;

TEST_CASE("every plan of the catalogue parses, and prints to a plan that is equal to it") {
  const auto files = files_below("tests/cases/plan/catalogue", ".plan");
  REQUIRE(files.size() == 51);
  for (const TextFile& f : files) {
    const Result<Plan> p = parse_plan(f.text, f.path);
    INFO(f.path << "\n" << to_string(p.diagnostics));
    REQUIRE(p.diagnostics.empty());
    const std::string text = print(*p);
    const Result<Plan> again = parse_plan(text, f.path);
    INFO(text << to_string(again.diagnostics));
    CHECK(*again == *p);
    CHECK(print(*again) == text);
    CHECK(std::count(text.begin(), text.end(), '\n') == std::count(f.text.begin(), f.text.end(), '\n'));
  }
}

TEST_CASE("printing a random plan and parsing it gives the same plan") {
  for (unsigned seed = 0; seed < 20000; ++seed) {
    const Plan p = RandomPlan(seed).plan();
    const std::string text = print(p);
    const Result<Plan> again = parse_plan(text);
    if (again.diagnostics.empty() && *again == p) continue;
    INFO("seed " << seed << "\n" << text << to_string(again.diagnostics) << print(*again));
    CHECK(again.diagnostics.empty());
    REQUIRE(*again == p);
  }
}

TEST_CASE("an operator may be called as a word of the language") {
  for (const char* line : {"assign blocks[1]:to#0 to all", "trans :at batch by data", "assign X:{to,in} to 0"}) {
    const Result<Statement> s = parse_statement(line);
    INFO(to_string(s.diagnostics));
    REQUIRE(s.ok());
    CHECK(print(*s.value) == line);
  }
  CHECK(parse_statement("assign blocks: to all").has_errors());
}

TEST_CASE("a line that does not parse is kept, and every one is reported") {
  const std::string text =
      "devices 4 as data=4\n"
      "tran * batch by data   # mistyped\n"
      "assign X pipe=0\n"
      "trans * batch by data\n";
  const Result<Plan> p = parse_plan(text, "a.plan");
  CHECK(to_string(p.diagnostics) ==
        "a.plan:2: tran * batch by data: unknown statement 'tran'. Did you mean 'trans'?\n"
        "a.plan:3: assign X pipe=0: expected 'to', found 'pipe'\n");
  REQUIRE(p->statements.size() == 4);
  CHECK(p->statements[3].line == 4);
  CHECK(print(*p) ==
        "devices 4 as data=4\n"
        "tran * batch by data  # mistyped\n"
        "assign X pipe=0\n"
        "trans * batch by data\n");
}

TEST_CASE("comments stand behind a blank, ordinals stick to their path") {
  const Result<Plan> p = parse_plan("trans x:add#2 batch by data  #2 is the second\n");
  REQUIRE(p.ok());
  CHECK(p->statements[0].comment == "#2 is the second");
  CHECK(print_code(p->statements[0]) == "trans x:add#2 batch by data");
}

TEST_CASE("names that are no plain words stand in quotes, and are printed so") {
  const auto printed = [](const char* line) {
    const Result<Statement> s = parse_statement(line);
    INFO(line << to_string(s.diagnostics));
    REQUIRE(s.value);
    return print_code(*s);
  };
  CHECK(printed("trans blocks.'block-a'.fc out by t") == "trans blocks.'block-a'.fc out by t");
  CHECK(printed("trans \"a b\" out by t") == "trans 'a b' out by t");
  CHECK(printed("trans 'blocks.a b'[0:2] out by t") == "trans blocks.'a b'[0:2] out by t");
  CHECK(printed("trans blocks.by out by t") == "trans blocks.'by' out by t");
  CHECK(printed("trans 'by' out by t") == "trans 'by' out by t");
  CHECK(printed("trans x.{'block-a',b} out by t") == "trans x.{'block-a',b} out by t");
  CHECK(printed("trans x.'block-'* out by t") == "trans x.'block-'* out by t");
  CHECK(printed("trans \"it's\".'#1' out by t  # it's") == "trans \"it's\".'#1' out by t");
  CHECK(printed("use tp(blocks.'é', t)") == "use tp(blocks.'é', t)");
  CHECK(printed("trans 'mlp' out by t") == "trans mlp out by t");
  CHECK(parse_statement("trans blocks.block-a out by t").diagnostics.at(0).what.find("stands in quotes: 'block-0'") !=
        std::string::npos);
}

TEST_CASE("behind a colon a word of the language is a kind of operator") {
  const Result<Plan> p = parse_plan("devices 2 as tensor=2\ntrans X:where#1 none by tensor\n", "");
  REQUIRE(p.ok());
  CHECK(print(*p) == "devices 2 as tensor=2\ntrans X:where#1 none by tensor\n");
}

TEST_CASE("nesting is limited, in every construct that nests") {
  for (const std::string open : {"(", "-", "g(", "|", "?x["}) {
    std::string text = "require ";
    for (int i = 0; i < 100000; ++i) text += open;
    const Result<Plan> p = parse_plan(text);
    REQUIRE(p.has_errors());
    CHECK(p.diagnostics[0].what == "nested too deeply (more than 50)");
  }
  for (const std::string open : {"f(", "chunk(", "S[f("}) {
    std::string text = "order ";
    for (int i = 0; i < 100000; ++i) text += open;
    CHECK(parse_plan(text).has_errors());
  }
  std::string text = "require ";
  for (int i = 0; i < 100000; ++i) text += "not ";
  CHECK(parse_plan(text).has_errors());
}

TEST_CASE("a line has a limited number of operations") {
  std::string text = "require 0";
  for (int i = 0; i < 100000; ++i) text += i % 2 ? "+1" : "*1";
  const Result<Plan> p = parse_plan(text + " = 1");
  REQUIRE(p.diagnostics.size() == 1);
  CHECK(p.diagnostics[0].what == "more than 500 operations in one line");
}

TEST_CASE("numbers that do not fit are refused") {
  const auto what = [](const char* text) {
    const Result<Plan> p = parse_plan(text);
    return p.diagnostics.empty() ? std::string() : p.diagnostics[0].what;
  };
  CHECK(what("devices 99999999999999999999\n") == "'99999999999999999999' is too large");
  CHECK(what("require memory(all) <= 9999999999TiB\n") == "'9999999999TiB' is too large");
  CHECK(what("devices 12abc\n") ==
        "'12abc' is not a number; units are B, KiB, MiB, GiB, TiB, kB, MB, GB, TB, us, ms, s");
  CHECK(what("devices 9223372036854775807\n").empty());
}

TEST_CASE("random changes of plan files never crash the parser") {
  std::mt19937 random(7);
  const auto files = files_below("tests/cases/plan/catalogue", ".plan");
  const std::vector<std::string> pieces{
      "",  "[", "]", "(",      ")",   "?",     "99999999999999999999", "\n",       "*",   "|", "{", "}", "#",
      ",", "=", "<", "where ", "by ", "end\n", "template x(a)\n",      "\xc3\xa9", "\xff"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = files[random() % files.size()].text;
    for (int n = 1 + static_cast<int>(random() % 5); n > 0; --n) {
      const std::size_t at = random() % text.size();
      text.replace(at, random() % 2, pieces[random() % pieces.size()]);
    }
    const Result<Plan> p = parse_plan(text);
    REQUIRE(p.value.has_value());
    const Result<Plan> again = parse_plan(print(*p));
    INFO(text);
    REQUIRE(*again == *p);
  }
}

TEST_CASE("blank lines are one statement and are printed as they stood") {
  const std::string text = "devices 2\n\n\n\n# a comment\n\ntemplate t(X)\n\n\n  trans X batch by d\nend\n";
  const Result<Plan> p = parse_plan(text, "");
  REQUIRE(p.ok());
  CHECK(p->statements.size() == 5);
  CHECK(p->statements[2].line == 5);
  CHECK(print(*p) == "devices 2\n\n\n\n# a comment\n\ntemplate t(X)\n\n\ntrans X batch by d\nend\n");
}
