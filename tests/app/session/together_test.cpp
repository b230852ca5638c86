// Several sessions on one workspace: they see what each other keeps, and outlive what others delete.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "engine/base/process_identity.h"
#include "storage/workspace.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("two sessions on one workspace see each other's versions") {
  const Scratch scratch;
  Session a({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"}), b({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(a, "open model=" + kModel);
  must(b, "open model=" + kModel);
  write(a, kPlan);
  must(a, "keep");
  a.wait();
  b.refresh();
  CHECK(to_json(history_panel(b.state()))["nodes"].empty());  // another plan, though neither has a name
  must(b, "open plan=1");
  must(a, "append \"# more\"");
  must(a, "keep");
  a.wait();
  b.refresh();
  const Json nodes = to_json(history_panel(b.state()))["nodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0]["step_us"].get<double>() > 0);
  CHECK(nodes[0]["verdict"] == "equivalent");
  must(b, "version " + std::to_string(nodes[0]["version"].get<int>()));
  CHECK(b.state().document()->draft.text() == kPlan);
}

TEST_CASE("a workspace that another program deletes is written again, with the versions and drafts that are open") {
  const Scratch scratch;
  const std::string file = scratch.file("w");
  Session s({.workspace = file, .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  must(s, "keep");
  must(s, "append \"trans transformer.h[*] recompute\"");
  must(s, "keep");
  must(s, "note version 2 the better one");
  must(s, "version 1");
  must(s, "append \"# not kept\"");
  must(s, "open model=" + kModel + " plan=" + scratch.write("b.plan", kPlan));
  must(s, "append \"# not kept either\"");
  s.wait();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file + end);
  must(s, "document 1");
  CHECK(s.state().document()->draft.text() == kPlan + "# not kept\n");
  bool told = false;
  for (const Diagnostic& d : s.state().messages) told = told || d.what.find("has deleted the workspace") != std::string::npos;
  CHECK(told);
  must(s, "drop");
  s.wait();
  must(s, "version 2");
  Session other({.workspace = file, .cluster = "dgx-h100x1"});
  must(other, "open model=" + kModel + " plan=2");
  const Json nodes = to_json(*make_panel("history", other.state()))["nodes"];
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[1]["parent"] == nodes[0]["version"]);
  CHECK(nodes[1]["note"] == "the better one");
  const SystemClock clock;
  const Result<std::vector<DraftRow>> drafts = Workspace::open(file, clock)->drafts();
  REQUIRE(drafts.ok());
  REQUIRE(drafts->size() == 1);
  CHECK(drafts->front().text == kPlan + "# not kept either\n");
}

TEST_CASE("a run whose program was killed is interrupted, in sessions that begin and in those that are open") {
  const Scratch scratch;
  Session a({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(a, "open model=" + kModel);
  write(a, kPlan);
  must(a, "keep");
  a.wait();
  const SystemClock clock;
  const auto begin = [&](std::int64_t start) {
    const ProcessIdentity me = this_process();
    REQUIRE(Workspace::open(scratch.file("w"), clock)->start_run(1, 2, {me.boot, me.pid, me.start + start}).ok());
  };
  const auto status = [](const Session& s, std::size_t row) { return to_json(*make_panel("runs", s.state()))["rows"][row]["status"]; };
  begin(-1);  // of a process that is gone
  a.refresh();
  CHECK(status(a, 0) == "interrupted");
  begin(0);
  a.refresh();
  CHECK(status(a, 1) == "running");
  begin(-2);
  Session b({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(b, "open model=" + kModel + " plan=1");
  CHECK(status(b, 1) == "running");
  CHECK(status(b, 2) == "interrupted");
}

TEST_CASE("what another program keeps is seen by the next command, and by the next look") {
  const Scratch scratch;
  const std::string path = scratch.write("a.plan", kPlan);
  Session one({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  Session two({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(one, "open model=" + kModel + " plan=" + path);
  must(two, "open model=" + kModel + " plan=" + path);
  must(one, "append \"# one\"");
  must(one, "keep");
  two.refresh();
  CHECK(two.state().document()->versions->size() == 2);  // what the file held, and what was kept
  must(one, "append \"# more\"");
  must(one, "keep");
  must(two, "select none");
  CHECK(two.state().document()->versions->size() == 3);
  const auto plans = [](const Session& s) {
    const State state = s.state();
    return std::count_if(state.entries->begin(), state.entries->end(), [](const WorkspaceEntry& e) { return e.kind == "plan"; });
  };
  CHECK(plans(one) == 1);  // its own too
  CHECK(plans(two) == 1);
}

TEST_CASE("the plan of a file goes on under the name that it is given in the workspace") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("g1.plan", kPlan));
  must(s, "append \"trans transformer.h[0] recompute\"");
  must(s, "keep");
  must(s, "rename plan 2 other");
  must(s, "append \"trans transformer.h[1] recompute\"");
  must(s, "keep");
  s.wait();
  const Json plans = panel(s, "workspace")["plans"];
  REQUIRE(plans.size() == 1);
  CHECK(plans[0]["name"] == "other");
}

TEST_CASE("versions have their figures where the one that was open is deleted by another program") {
  const Scratch scratch;
  Session a({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"}), b({.workspace = scratch.file("w")});
  must(a, "open model=" + kModel + " plan=" + scratch.write("q.plan", kPlan));
  must(a, "append \"trans transformer.h[0] recompute\"");
  must(a, "keep");
  a.wait();
  must(b, "delete version 2 discard=yes");
  a.refresh();
  must(a, "cluster dgx-a100x1");
  a.wait();
  const Json nodes = panel(a, "history")["nodes"];
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0]["step_us"].get<double>() > 0);
  CHECK(nodes[0]["cluster"] == "dgx-a100x1");
}
