// The versions of a plan, also where another program changes them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "storage/workspace.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

// Two on one workspace, of whom the second one has kept two versions of a plan.
struct TwoSessions {
  TwoSessions() {
    must(second, "open model=" + kModel);
    write(second, kPlan);
    must(second, "keep");
    must(second, "append \"# of b\"");
    must(second, "keep");
    second.wait();
  }
  const Scratch scratch = {};
  const std::string file = scratch.file("w");
  Session first{{.workspace = file, .cluster = "dgx-h100x1"}}, second{{.workspace = file, .cluster = "dgx-h100x1"}};
};

}  // namespace

TEST_CASE("a version that another program deletes while it is open becomes a draft, and its number is never used again") {
  TwoSessions two;
  Session &a = two.first, &b = two.second;
  must(a, "open model=" + kModel + " plan=1");
  must(a, "delete version 2 discard=yes");
  must(a, "append \"# of a\"");
  must(a, "keep");
  a.wait();
  b.refresh();
  CHECK_FALSE(b.state().document()->version.has_value());
  CHECK(text_of(b) == kPlan + "# of b\n");
  CHECK(b.state().document()->draft.edited());
  const SystemClock clock;
  Result<Workspace> w = Workspace::open(two.file, clock);
  REQUIRE(w.ok());
  const auto draft_of_b = [&] {
    const Result<std::vector<DraftRow>> rows = w->drafts();
    return std::any_of(rows->begin(), rows->end(), [](const DraftRow& r) { return r.text == kPlan + "# of b\n"; });
  };
  CHECK(draft_of_b());
  must(b, "keep");
  b.wait();
  CHECK_FALSE(draft_of_b());
  const Result<std::vector<PlanRow>> plans = w->plans();
  REQUIRE(plans->size() == 3);
  CHECK((*plans)[1].id == 3);
  CHECK((*plans)[1].text == kPlan + "# of a\n");
  CHECK((*plans)[2].id == 4);
  CHECK((*plans)[2].text == kPlan + "# of b\n");
  CHECK_FALSE((*plans)[2].parent.has_value());
  // The figures of the deleted version are nobody's.
  const Result<std::vector<PredictionRow>> predictions = w->predictions();
  CHECK(std::none_of(predictions->begin(), predictions->end(), [](const PredictionRow& r) { return r.plan == 2; }));
}

TEST_CASE("a plan that another program renames keeps its history, and undo") {
  TwoSessions two;
  Session &a = two.first, &b = two.second;
  must(a, "open model=" + kModel + " plan=1");
  must(a, "rename plan 1 better");
  b.refresh();
  CHECK(b.state().document()->name == "better");
  CHECK(b.state().document()->versions->size() == 2);
  must(b, "undo");
  CHECK(text_of(b) == kPlan);
}

TEST_CASE("a history is what was edited from one another, whatever the names") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string one = scratch.write("a.plan", kPlan);
  std::filesystem::create_directory(scratch.file("other"));
  const std::string two = scratch.write("other/a.plan", "devices 1\n");
  const auto versions = [&] { return s.state().document()->versions->size(); };
  must(s, "open model=" + kModel + " plan=" + one);
  must(s, "keep");
  must(s, "append \"# more\"");
  must(s, "keep");
  CHECK(versions() == 2);
  must(s, "open plan=" + two);  // of the same name
  CHECK(versions() == 0);
  must(s, "keep");
  CHECK(versions() == 1);
  must(s, "document 1");
  must(s, "save " + scratch.file("b.plan"));
  CHECK(versions() == 3);
  must(s, "undo");
  CHECK(text_of(s) == kPlan + "# more\n");
  must(s, "close discard=yes");
  // Written by another program since: what is kept next comes behind what was kept of the file last.
  scratch.write("a.plan", kPlan + "# by hand\n");
  must(s, "open plan=" + one);
  CHECK_FALSE(s.state().document()->version.has_value());
  CHECK(versions() == 3);
  must(s, "keep");
  CHECK(versions() == 4);
  must(s, "undo");
  CHECK(text_of(s) == kPlan + "# more\n");
}
