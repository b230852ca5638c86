// Two people write into one text: nobody's line is lost.
#include "app/session/merge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "engine/base/text.h"

using namespace planscope;
using namespace planscope::session;

namespace {

using Lines = std::vector<std::string>;

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

// Whether all of `few` stand in `many` in their order.
bool in_order(const Lines& few, const Lines& many) {
  auto at = many.begin();
  for (const std::string& line : few) {
    at = std::find(at, many.end(), line);
    if (at == many.end()) return false;
    ++at;
  }
  return true;
}

// The base with some of its lines from `first` to `last` removed, changed, or with others before them.
Lines edited(Lines base, const std::string& who, std::size_t first, std::size_t last, std::mt19937& random) {
  Lines out(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = first; i < last; ++i) {
    const std::string own = who + std::to_string(i);
    switch (random() % 6) {
      case 0: break;
      case 1: out.push_back(own); break;
      case 2: out.insert(out.end(), {own + "a", own + "b", base[i]}); break;
      default: out.push_back(base[i]);
    }
  }
  out.insert(out.end(), base.begin() + static_cast<std::ptrdiff_t>(last), base.end());
  return out;
}

Lines numbered(std::size_t n) {
  Lines out;
  for (std::size_t i = 0; i < n; ++i) out.push_back("line " + std::to_string(i));
  return out;
}

}  // namespace

TEST_CASE("each line that was written stays, and each that both have kept") {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Lines base = numbered(1 + random() % 8);
    const Lines mine = edited(base, "mine ", 0, base.size(), random);
    const Lines theirs = edited(base, "theirs ", 0, base.size(), random);
    const std::string text = merged(join(base, "\n"), join(mine, "\n"), join(theirs, "\n"));
    INFO(join(base, "|") << "\n" << join(mine, "|") << "\n" << join(theirs, "|") << "\n" << text);
    const Lines now = split(text, '\n');
    Lines written_by_me, written_by_them, kept;
    for (const std::string& line : mine)
      if (!has(base, line)) written_by_me.push_back(line);
    for (const std::string& line : theirs)
      if (!has(base, line)) written_by_them.push_back(line);
    for (const std::string& line : base)
      if (has(mine, line) && has(theirs, line)) kept.push_back(line);
    const std::size_t all = written_by_me.size() + written_by_them.size() + kept.size();
    const bool one_is_empty = mine.empty() || theirs.empty();  // an empty text still has a line
    if (!one_is_empty) CHECK((all == 0 ? text.empty() : now.size() == all));
    REQUIRE(in_order(written_by_me, now));
    REQUIRE(in_order(written_by_them, now));
    REQUIRE(in_order(kept, now));
  }
}

TEST_CASE("edits of different parts come to the same, whoever was first") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const Lines base = numbered(8);
    const std::size_t middle = 1 + random() % 7;
    const std::string b = join(base, "\n"), head = join(edited(base, "head ", 0, middle, random), "\n"),
                      tail = join(edited(base, "tail ", middle, 8, random), "\n");
    CHECK(merged(b, head, tail) == merged(b, tail, head));
  }
}

TEST_CASE("the same edit by both is one, and a text that came before is not written twice") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const Lines base = numbered(8);
    const std::string b = join(base, "\n"), mine = join(edited(base, "mine ", 0, 3, random), "\n"),
                      theirs = join(edited(base, "theirs ", 4, 8, random), "\n");
    CHECK(merged(b, mine, mine) == mine);
    CHECK(merged(b, mine, b) == mine);
    CHECK(merged(b, b, theirs) == theirs);
    const std::string both = merged(b, mine, theirs);
    CHECK(merged(b, mine, both) == both);
  }
}

TEST_CASE("texts are merged by lines") {
  CHECK(merged("a\nb\n", "a\nb\nmine\n", "theirs\nb\n") == "theirs\nb\nmine\n");
  CHECK(merged("a\n", "mine\n", "theirs\n") == "theirs\nmine\n");
  CHECK(merged("a\n", "a\nmine", "a\ntheirs") == "a\ntheirs\nmine");
  CHECK(merged("", "mine", "theirs\n") == "theirs\nmine");
  CHECK(merged("a\nb", "b", "a changed\nb") == "a changed\nb");
  // Someone goes on in a line of which both forms stay since an edit before.
  CHECK(merged("tra", "tran", "trx\ntra") == "trx\ntran");
  CHECK(merged("a\nb", "mine\nb", "new\na\nb") == "new\nmine\nb");
}

TEST_CASE("texts that are long and all different take no long time, and lose nothing") {
  const auto text = [](const std::string& who) {
    std::string out;
    for (int i = 0; i < 100'000; ++i) out += who + std::to_string(i) + "\n";
    return out;
  };
  const std::string now = merged(text("base "), text("mine "), text("theirs "));
  CHECK(now.size() == text("mine ").size() + text("theirs ").size());
}
