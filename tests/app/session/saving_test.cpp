// Plans and their files: what is written, what is not overwritten, and what cannot be read.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "storage/workspace.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("a save that fails leaves the plan modified, and its file as it was") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string path = scratch.write("a.plan", kPlan);
  must(s, "open model=" + kModel + " plan=" + path);
  CHECK_FALSE(s.state().document()->modified());
  must(s, "append \"trans transformer.h[*] recompute\"");
  CHECK(s.state().document()->modified());
  CHECK_FALSE(run(s, "save " + scratch.file("no/such/folder/a.plan")).ok());
  CHECK(s.state().document()->modified());
  CHECK(s.state().document()->path == path);
  CHECK(scratch.read("a.plan") == kPlan);
  must(s, "save");
  CHECK_FALSE(s.state().document()->modified());
  CHECK(scratch.read("a.plan") == kPlan + "trans transformer.h[*] recompute\n");
}

TEST_CASE("a file whose lines end in carriage returns is edited like others, and written as it was") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string path = scratch.write("a.plan", "devices 2 as data=2\r\ntrans * batch by data\r\n");
  must(s, "open model=" + kModel + " plan=" + path);
  CHECK(text_of(s) == kPlan);
  CHECK_FALSE(s.state().document()->modified());
  REQUIRE(s.apply({"type", {{"from", kPlan}, {"text", kPlan + "# typed"}}}).ok());
  CHECK(text_of(s) == kPlan + "# typed");
  must(s, "save");
  CHECK(scratch.read("a.plan") == "devices 2 as data=2\r\ntrans * batch by data\r\n# typed");
  CHECK_FALSE(s.state().document()->modified());
  must(s, "append \"# more\"");
  must(s, "save");  // nobody else has changed it
}

TEST_CASE("a file that another program has changed is not overwritten unasked") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "append \"# mine\"");
  scratch.write("a.plan", "# theirs\n");
  const Result<Done> refused = run(s, "save");
  REQUIRE_FALSE(refused.ok());
  CHECK(to_string(refused.diagnostics).find("changed by another program") != std::string::npos);
  CHECK(scratch.read("a.plan") == "# theirs\n");
  must(s, "save overwrite=yes");
  CHECK(scratch.read("a.plan") == kPlan + "# mine\n");
  scratch.write("b.plan", "# another plan\n");
  CHECK_FALSE(run(s, "save " + scratch.file("b.plan")).ok());
  CHECK(scratch.read("b.plan") == "# another plan\n");
}

TEST_CASE("a draft that is restored does not overwrite what another program has written since") {
  const Scratch scratch;
  const std::string path = scratch.write("a.plan", kPlan);
  SystemClock clock;
  {
    Result<Workspace> w = Workspace::open(scratch.file("w"), clock);
    REQUIRE(w.ok());
    REQUIRE(w->put_draft({.model = kModel, .name = "a", .path = path, .cluster = "local", .text = kPlan + "# mine\n",
                          .process = {"nowhere", 1, 1}, .saved = kPlan})
                .ok());
  }
  scratch.write("a.plan", "# theirs\n");
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  REQUIRE(s.state().lost.size() == 1);
  must(s, "restore " + std::to_string(s.state().lost[0].id));
  CHECK(s.state().document()->draft.text() == kPlan + "# mine\n");
  const Result<Done> refused = run(s, "save");
  REQUIRE_FALSE(refused.ok());
  CHECK(to_string(refused.diagnostics).find("changed by another program") != std::string::npos);
  CHECK(scratch.read("a.plan") == "# theirs\n");
}

TEST_CASE("a file that is no text is not opened as a plan, and stays as it is") {
  const Scratch scratch;
  std::filesystem::copy_file("sample_models/gpt2_tiny.pt2", scratch.file("a.pt2"));
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const Result<Done> opened = s.apply({"open", {{"model", "sample_models/gpt2_tiny.pt2"}, {"plan", scratch.file("a.pt2")}}});
  REQUIRE(!opened.ok());
  CHECK(opened.diagnostics[0].what == "the file is no plan");
  CHECK(opened.diagnostics[0].file == scratch.file("a.pt2"));
  CHECK(s.state().documents.empty());
}

TEST_CASE("a model that is damaged is named, and what was open stays") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  const std::string broken = scratch.write("broken.pt2", "this is no archive");
  CHECK_FALSE(run(s, "open model=" + broken).ok());
  CHECK(s.state().documents.size() == 1);
  const Json rows = to_json(problems_panel(s.state()))["rows"];
  REQUIRE(!rows.empty());
  CHECK(rows[0]["file"] == broken);
}

TEST_CASE("what a plan was opened with is a version below the first one that is kept") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string opened = kPlan + "# precious\n";
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", opened));
  write(s, "devices 4 as data=4\ntrans * batch by data\n");
  must(s, "keep");
  must(s, "save");
  const Json history = panel(s, "history")["nodes"];
  REQUIRE(history.size() == 2);
  CHECK(history[0]["parent"].is_null());
  CHECK(history[1]["parent"] == history[0]["version"]);
  must(s, "undo");
  CHECK(text_of(s) == opened);
  must(s, "redo");
  CHECK(text_of(s) == "devices 4 as data=4\ntrans * batch by data\n");
}

TEST_CASE("a file is saved if it has the text, and what another program has written there is shown where it is opened again") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  const std::string path = scratch.write("a.plan", kPlan), other = "devices 4 as data=4\ntrans * batch by data\n";
  const auto is_saved = [&] { return panel(s, "documents")["rows"][0]["saved"] == true; };
  must(s, "open model=" + kModel + " plan=" + path);
  CHECK(is_saved());
  scratch.write("a.plan", other);
  CHECK_FALSE(is_saved());
  must(s, "open model=" + kModel + " plan=" + path);
  CHECK(s.state().documents.size() == 1);
  CHECK(text_of(s) == other);
  CHECK(is_saved());
  must(s, "undo");
  CHECK(text_of(s) == kPlan);
  CHECK_FALSE(is_saved());
  // Beside edits nothing is taken over.
  write(s, kPlan + "# mine\n");
  scratch.write("a.plan", kPlan + "# theirs\n");
  must(s, "open model=" + kModel + " plan=" + path);
  CHECK(text_of(s) == kPlan + "# mine\n");
  CHECK(panel(s, "problems").dump().find("has been changed by another program") != std::string::npos);
}

TEST_CASE("a line with an error has no note of what it decides") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 2 as data=2\ntrans * batch by dat\nuse tp(transformer.hh[*], data)\ntrans transformer.h[*] recompute\n");
  s.wait();
  std::set<int> noted;
  const Panel script = *make_panel("script", s.state());
  for (const auto& note : script.notes) noted.insert(note.line);
  CHECK(noted == std::set<int>{4});
  std::string rows;
  const Json constraints = panel(s, "constraints");
  for (const Json& row : constraints["rows"])
    if (row["line"] == 3) rows += row["state"].dump() + " ";
  CHECK(rows.starts_with("\"error\" "));
  CHECK(rows.find("holds") == std::string::npos);
}

TEST_CASE("of an open size only those are legal that its grid leaves") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 64 as pipe=?p data=?d where ?p * ?d = 64\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by data\n"
           "assign S[i] to pipe=i\n");
  s.wait();
  const std::string said = panel(s, "problems").dump();
  CHECK(said.find("it can be 1, 2, 4;") != std::string::npos);
}
