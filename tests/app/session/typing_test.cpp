// Texts that are typed, in whichever order they come.
#include <catch2/catch.hpp>

#include "app/session/typing.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

void type(Session& s, const std::string& text, const std::string& id, const std::string& after) {
  std::map<std::string, std::string> values = {{"from", "# a\n"}, {"text", text}, {"id", id}};
  if (!after.empty()) values["after"] = after;
  REQUIRE(s.apply({"type", values}).ok());
}

}  // namespace

TEST_CASE("of two texts that are under way at once the newer one counts, whichever comes first") {
  for (const bool in_order : {true, false}) {
    INFO(in_order);
    Session s({.workspace = "", .cluster = "dgx-h100x1"});
    must(s, "open model=" + kModel);
    REQUIRE(s.apply({"text", {{"text", "# a\n"}}}).ok());
    if (in_order) type(s, "# ab\n", "page.1", "");
    type(s, "# abc\n", "page.2", "page.1");
    if (!in_order) type(s, "# ab\n", "page.1", "");
    CHECK(text_of(s) == "# abc\n");
  }
}

TEST_CASE("what others write between two texts that are under way stays") {
  for (const bool in_order : {true, false}) {
    INFO(in_order);
    Session s({.workspace = "", .cluster = "dgx-h100x1"});
    must(s, "open model=" + kModel);
    REQUIRE(s.apply({"text", {{"text", "# a\n"}}}).ok());
    if (in_order) type(s, "# ab\n", "page.1", "");
    must(s, "append \"# theirs\"");
    type(s, "# abc\n", "page.2", "page.1");
    if (!in_order) type(s, "# ab\n", "page.1", "");
    CHECK(text_of(s) == "# abc\n# theirs\n");
  }
}

TEST_CASE("names of texts are remembered for a while, not for ever") {
  Typing t;
  CHECK(t.base("a", "ab", "page.0", "") == "a");
  for (int k = 1; k < 1000; ++k) CHECK(t.base("a", "ab", "page." + std::to_string(k), "") == "a");
  CHECK(t.base("a", "abc", "page.1000", "page.999") == "ab");
  CHECK(t.base("a", "abc", "other.2", "other.1") == "a");
  CHECK_FALSE(t.base("a", "ab", "other.1", ""));
}
