// What is offered at a place of a plan.
#include "app/session/completion.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("a word that can stand as it is, is not completed unasked; what is offered is for one place of one text") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 4 as t=2 tensor=2\n");
  const auto at_end = [&](const std::string& text) { return complete(*s.state().document(), text, text.size()); };
  const session::Completion begun = at_end(text_of(s) + "trans * batch by te");
  const session::Completion whole = at_end(text_of(s) + "trans * batch by t");
  REQUIRE(begun.items.size() == 1);
  CHECK(begun.items[0].text == "tensor");
  CHECK_FALSE(begun.whole);
  CHECK(whole.whole);
  REQUIRE(whole.items.size() == 1);
  CHECK(whole.is_of(text_of(s) + "trans * batch by t", whole.cursor));
  CHECK_FALSE(whole.is_of(text_of(s) + "trans * batch by t", whole.cursor - 1));
  CHECK_FALSE(whole.is_of("#" + text_of(s) + "trans * batch by t", whole.cursor));
}

TEST_CASE("every word that begins a statement, and every algorithm, is offered where it can stand") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 2 as data=2\n");
  const auto is_offered = [&](const std::string& before, std::string_view word) {
    const std::string text = text_of(s) + before + std::string(word.substr(0, 1));
    const std::vector<session::CompletionItem> items = complete(*s.state().document(), text, text.size()).items;
    return std::any_of(items.begin(), items.end(), [&](const session::CompletionItem& i) { return i.text == word; });
  };
  CHECK(plan::statement_words().size() == 14);
  for (const plan::Word& w : plan::statement_words()) {
    INFO(w.text);
    CHECK(is_offered("", w.text));
    CHECK(is_offered("auto ", w.text));
  }
  for (const plan::Word& w : plan::algorithm_words()) {
    INFO(w.text);
    CHECK(is_offered("trans transformer.h[*] ", w.text));
    CHECK(plan::parse_statement("trans * " + std::string(w.text)).ok());
  }
}

TEST_CASE("members of what a let names are offered") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 2 as pipe=2\nlet L = transformer.h[*]\nlet S = cut L into 2\n");
  const auto is_offered = [&](const std::string& begun, const std::string& word) {
    const std::string text = text_of(s) + "trans " + begun;
    const std::vector<session::CompletionItem> items = complete(*s.state().document(), text, text.size()).items;
    return std::any_of(items.begin(), items.end(), [&](const session::CompletionItem& i) { return i.text == word; });
  };
  CHECK(is_offered("L.", "L.mlp"));
  CHECK(is_offered("L.m", "L.mlp"));
  CHECK(is_offered("L[0].", "L[0].attn"));
  CHECK(is_offered("S[1].mlp.c", "S[1].mlp.c_fc"));
  CHECK_FALSE(is_offered("L.", "L.ln_f"));
  CHECK_FALSE(is_offered("M.", "M.mlp"));
}

TEST_CASE("behind assign stand places, and behind a template what it takes") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 8 as pipe=4 tensor=2\ngrid front = 0:4 as row=4\naxis mb=8\nlet L = transformer.h[*]\n"
           "template mine(X, a)\ntrans X batch by a\nend\n");
  const auto offered = [&](const std::string& line) {
    const std::string text = text_of(s) + line;
    std::vector<std::string> out;
    for (const session::CompletionItem& i : complete(*s.state().document(), text, text.size()).items) out.push_back(i.text);
    return out;
  };
  using Words = std::vector<std::string>;
  CHECK(offered("assign L to ") == Words{"pipe=0", "row=0", "tensor=0", "all", "front"});
  CHECK(offered("assign L[i] to p") == Words{"pipe=i"});
  CHECK(offered("assign L[i] to pipe=") == Words{"i", "0", "1", "2", "3"});
  CHECK(offered("assign L to pipe=1, t") == Words{"tensor=0"});
  CHECK(offered("use tp(").at(0) == "X, t)");
  CHECK(offered("use tp(L, ").at(0) == "t)");
  CHECK(offered("use mine(").at(0) == "X, a)");
  CHECK(offered("use tp(L") == Words{});  // a name as it stands
  CHECK(offered("trans * batch by fr") == Words{});  // a grid is no axis
}
