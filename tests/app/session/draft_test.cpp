#include "app/session/draft.h"

#include <catch2/catch.hpp>
#include <random>

using namespace planscope::session;

TEST_CASE("undo and redo walk the edits exactly") {
  // Against a plain list of texts and a place in it.
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Draft d("kept");
    std::vector<std::string> texts = {"kept"};
    std::size_t at = 0;
    for (int step = 0; step < 50; ++step) {
      switch (random() % 5) {
        case 0:
        case 1: {
          const std::string text = "text " + std::to_string(random() % 8);
          if (text != texts[at]) {
            texts.resize(at + 1);
            texts.push_back(text);
            ++at;
          }
          d.write(text);
          break;
        }
        case 2: CHECK(d.undo() == (at > 0)); at -= at > 0; break;
        case 3: CHECK(d.redo() == (at + 1 < texts.size())); at += at + 1 < texts.size(); break;
        case 4:
          if (random() % 4 == 0) {
            d.keep();
            texts = {texts[at]};
            at = 0;
          }
      }
      REQUIRE(d.text() == texts[at]);
      REQUIRE(d.kept() == texts[0]);
      REQUIRE(d.edited() == (texts[at] != texts[0]));
    }
  }
}

TEST_CASE("typing is one step of undo, until something else is done") {
  Draft d("a\n");
  d.type("a\nb");
  d.type("a\nbc");
  d.type("a\nbcd");
  CHECK(d.text() == "a\nbcd");
  CHECK(d.undo());
  CHECK(d.text() == "a\n");
  CHECK(d.redo());
  CHECK(d.text() == "a\nbcd");
  d.type("a\nbcde");
  CHECK(d.undo());
  CHECK(d.text() == "a\nbcd");
  d.drop();
  CHECK(d.text() == "a\n");
  CHECK(d.undo());
  CHECK(d.text() == "a\nbcd");
}

TEST_CASE("a change is told by its lines") {
  CHECK(change_between("", "devices 2 as data=2\n") == "+ devices 2 as data=2");
  CHECK(change_between("a\nb\nc\n", "a\nx\nc\n") == "- b, + x");
  CHECK(change_between("a\nb\n", "a\n\n  \nb\n") == "");
  CHECK(change_between("a\n", "a\nb\nc\nd\ne\nf\n") == "+ b, + c, + d and 2 more");
}

TEST_CASE("a plan is edited in one form, however its file is written") {
  CHECK(plan_text("a\r\nb\rc\n") == "a\nb\nc\n");
  CHECK(plan_text("\xEF\xBB\xBF" "a") == "a");  // a mark of the order of bytes
  CHECK(plan_text("# caf\xE9 \xFF") == "# café ÿ");
  CHECK(plan_text("# café 量 😀") == "# café 量 😀");
  CHECK(plan_text("# \xED\xA0\x80") == "# í\u00A0\u0080");  // half of a character of UTF-16 is none
  CHECK(plan_text("a\u2028b\u2029c") == "a b c");
  Draft d("a\r\n");
  CHECK(d.text() == "a\n");
  d.type("a\r\nb");
  CHECK(d.text() == "a\nb");
  d.write("a\r\nb\r\n");
  CHECK(d.text() == "a\nb\n");
}
