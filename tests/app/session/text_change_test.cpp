// What an editor does when the text that it shows has been changed elsewhere.
#include "app/session/text_change.h"

#include <catch2/catch.hpp>
#include <random>

#include "app/session/commands.h"
#include "engine/base/text.h"

using namespace planscope;
using namespace planscope::session;

namespace {

std::string with(const std::string& text, const std::vector<TextPiece>& pieces) {
  std::string out;
  std::size_t at = 0;
  for (const TextPiece& p : pieces) {
    REQUIRE(p.from >= at);
    REQUIRE(p.to >= p.from);
    out += text.substr(at, p.from - at) + p.insert;
    at = p.to;
  }
  return out + text.substr(at);
}

// Where the `|` of the first text stands after the change, written into the second one.
std::string stays(std::string before, const std::string& after) {
  const std::size_t place = before.find('|');
  before.erase(place, 1);
  std::string out = after;
  return out.insert(place_after(before, after, place), "|");
}

}  // namespace

TEST_CASE("the pieces make of one text the other, and leave lines that stay alone") {
  std::mt19937 random(3);
  const std::vector<std::string> words = {"", "a", "b", "ab", "ä", "äb", "long line", "long lines"};
  const auto text = [&] {
    std::vector<std::string> lines;
    for (std::size_t n = 1 + random() % 6; n > 0; --n) lines.push_back(words[random() % words.size()]);
    return join(lines, "\n");
  };
  for (int round = 0; round < 20000; ++round) {
    const std::string before = text(), after = text();
    INFO(quoted(before) << " " << quoted(after));
    REQUIRE(with(before, pieces_between(before, after)) == after);
    for (std::size_t place = 0; place <= before.size(); ++place) {
      REQUIRE(place_after(before, after, place) <= after.size());
      REQUIRE(place_after(before, before, place) == place);
    }
  }
  CHECK(pieces_between("a\nb\nc\n", "a2\nb\nc2\n") == std::vector<TextPiece>{{1, 1, "2"}, {5, 5, "2"}});
  CHECK(pieces_between("a\nb", "a\nb\nc") == std::vector<TextPiece>{{3, 3, "\nc"}});
  CHECK(pieces_between("a\nb\nc", "a\nb") == std::vector<TextPiece>{{3, 5, ""}});
  CHECK(pieces_between("ä", "ö") == std::vector<TextPiece>{{0, 2, "ö"}});  // whole characters
}

TEST_CASE("a cursor stays in its line") {
  CHECK(stays("a\nb|\nc\n", "new\na\nb\nc\n") == "new\na\nb|\nc\n");       // lines come before it
  CHECK(stays("a\nb|\nc\n", "a changed\nb\nc changed\n") == "a changed\nb|\nc changed\n");  // on both sides of it
  CHECK(stays("a\n|b\n", "a\nnew\nb\n") == "a\nnew\n|b\n");
  CHECK(stays("let a|xes\nx\ny\n", "x\ny\nlet axes\n") == "x\ny\nlet a|xes\n");  // it is moved
  CHECK(stays("x\ny\nlet a|xes\n", "let axes\nx\ny\n") == "let a|xes\nx\ny\n");
  CHECK(stays("trans * ba|tch\n", "# trans * batch\n") == "# trans * ba|tch\n");  // it is switched off
  CHECK(stays("trans * by da|ta\nx\n", "new\ntrans mlp by data\nx\n") == "new\ntrans mlp by da|ta\nx\n");
  CHECK(stays("a\nb|b\nc\n", "a\nc\n") == "a\n|c\n");  // it is gone
  CHECK(stays("a\nb|", "a") == "a|");
  CHECK(stays("a|bc", "") == "|");
  CHECK(stays("|", "a\nb\n") == "a\nb\n|");
  CHECK(stays("a\n|", "a\nb\n") == "a\nb\n|");  // behind the last line
  CHECK(stays("wörter|", "wörter und mehr") == "wörter| und mehr");
  CHECK(stays("ä|", "ö") == "ö|");
}
