// Two people on one plan: a command about a line comes to the line that its giver has seen, or is refused.
#include "app/session/seen.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "app/session/lines.h"
#include "app/session/offers.h"
#include "app/session/text_change.h"
#include "engine/base/text.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

const std::string kSplitPlan = "devices 4 as data=2 tensor=2\naxis mb=2\ntrans * batch by mb, data\ntrans * out by tensor\n";

std::string seen(const Session& s) { return " seen=" + std::to_string(s.state().document()->seen.newest()); }

std::string refusal(Session& s, const std::string& line) {
  const Result<Done> done = run(s, line);
  REQUIRE_FALSE(done.ok());
  return to_string(done.diagnostics.front());
}

}  // namespace

TEST_CASE("what has become of a line") {
  CHECK(line_now("a\nb\n", "new\na\nb\n", 1) == LineNow{2, false});
  CHECK(line_now("a\nb\nc\n", "b\nc\na\n", 0) == LineNow{2, false});
  CHECK(line_now("a\ntrans b\n", "a\n# trans b\n", 1) == LineNow{1, true});
  CHECK(line_now("a\nb\nc\n", "a\nc\n", 1) == std::nullopt);
  CHECK(line_now("a", "a", 7) == std::nullopt);
}

TEST_CASE("a command about a line that another person has moved comes to that line") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, kSplitPlan);
  const std::string as_seen = seen(s);
  must(s, "paste \"# by another\" before=1");
  must(s, "toggle 3" + as_seen);
  CHECK(lines_of(text_of(s))[3] == "# trans * batch by mb, data");
  must(s, "undo");
  must(s, "move 1 to=4" + as_seen);
  CHECK(lines_of(text_of(s))[0] == "# by another");
  CHECK(lines_of(text_of(s))[4] == "devices 4 as data=2 tensor=2");
  must(s, "undo");
  must(s, "drag \"select statement=3" + as_seen + "\" onto=\"select statement=2" + as_seen + "\"");
  CHECK(lines_of(text_of(s))[2] == "trans * batch by mb, data");
  CHECK(lines_of(text_of(s))[3] == "axis mb=2");
  must(s, "undo");
  must(s, "paste \"# mine\" before=4" + as_seen);
  CHECK(lines_of(text_of(s))[4] == "# mine");
  must(s, "select statement=1" + as_seen);
  CHECK(s.state().selection.statement == 2);
  must(s, "toggle 3");  // what says nothing counts as it stands
  CHECK(lines_of(text_of(s))[2] == "# axis mb=2");
}

TEST_CASE("what another person has changed or taken away is left alone, and told") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, kSplitPlan);
  const std::string as_seen = seen(s);
  must(s, "replace 4 \"trans * out by data\"");
  must(s, "replace 2 \"\"");
  const std::string now = text_of(s);
  CHECK(refusal(s, "replace 4 \"# mine\"" + as_seen) ==
        "line 4 has been changed since it was seen; it was 'trans * out by tensor', now line 3 is "
        "'trans * out by data'; look at the plan as it is now");
  CHECK(refusal(s, "relax 2" + as_seen) ==
        "line 2 has gone since it was seen; it was 'axis mb=2'; look at the plan as it is now");
  const std::string drag = "drag \"select statement=2" + as_seen + "\" onto=\"select statement=1\"";
  CHECK(refusal(s, drag).find("line 2 has gone") == 0);
  CHECK(offers(s.state(), "select statement=2" + as_seen).all.empty());
  CHECK(refusal(s, "toggle 1 seen=999999").find("the plan is not the one that was seen") == 0);
  CHECK(text_of(s) == now);
  must(s, "open model=" + kModel);  // another document has texts of its own
  write(s, kSplitPlan);
  CHECK(refusal(s, "toggle 1" + as_seen).find("the plan is not the one that was seen") == 0);
}

TEST_CASE("a line is dragged beside another one") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "# a\n# b\n# c\n# d\n");
  const auto drag = [&](int line, int onto, const std::string& side) {
    must(s, "drag \"select statement=" + std::to_string(line) + "\" onto=\"select statement=" + std::to_string(onto) +
                "\"" + (side.empty() ? "" : " side=" + side));
    std::string out;
    for (const std::string& l : lines_of(text_of(s))) out += l.substr(2);
    must(s, "undo");
    return out;
  };
  CHECK(drag(1, 3, "") == "bcad");
  CHECK(drag(1, 3, "before") == "bacd");
  CHECK(drag(1, 3, "after") == "bcad");
  CHECK(drag(4, 2, "before") == "adbc");
  CHECK(drag(4, 2, "after") == "abdc");
}

TEST_CASE("no command ever comes to another row than was seen") {
  Session s({});
  must(s, "open model=" + kModel);
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const int count = 3 + static_cast<int>(random() % 5);
    for (int k = 0; k < count; ++k) text += "# line " + std::to_string(k) + "\n";
    write(s, text);
    const std::string as_seen = seen(s);
    const auto any = [&] { return std::to_string(1 + random() % lines_of(text_of(s)).size()); };
    for (int k = static_cast<int>(random() % 4); k > 0; --k) switch (random() % 4) {
        case 0: must(s, "move " + any() + " to=" + any()); break;
        case 1: must(s, "paste \"# other " + std::to_string(k) + "\" before=" + any()); break;
        case 2: must(s, "replace " + any() + " \"# changed " + std::to_string(k) + "\""); break;
        case 3: must(s, "replace " + any() + " \"\""); break;
      }
    std::vector<std::string> before = lines_of(text_of(s));
    const std::size_t line = random() % static_cast<std::size_t>(count);
    const std::string wanted = lines_of(text)[line];
    const bool there = std::count(before.begin(), before.end(), wanted) == 1;
    const Result<Done> done = run(s, "replace " + std::to_string(line + 1) + " \"# MINE\"" + as_seen);
    INFO(text << "---\n" << join(before, "\n") << "\n---\n" << line + 1);
    REQUIRE(done.ok() == there);
    if (there) std::replace(before.begin(), before.end(), wanted, std::string("# MINE"));
    REQUIRE(lines_of(text_of(s)) == before);
  }
}

TEST_CASE("the rows of the grid say which text they are of, and a selected line is selected wherever it stands") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, kSplitPlan);
  const Panel grid = *make_panel("constraints", s.state());
  CHECK(to_json(grid)["seen"] == s.state().document()->seen.newest());
  const TableRow row = grid.rows[2];
  must(s, row.command);
  CHECK(s.state().selection.statement == 3);
  must(s, "paste \"# by another\" before=1");
  CHECK(s.state().selection.statement == 4);
  for (const Cell& c : row.cells)
    if (c.edit.starts_with("toggle")) must(s, c.edit);
  CHECK(lines_of(text_of(s))[3] == "# trans * batch by mb, data");
  CHECK(s.state().selection.statement == 4);
  must(s, "replace 4 \"\"");
  CHECK(s.state().selection.none());
}
