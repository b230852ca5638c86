// What is not kept is not lost: drafts in the workspace, through kills, locks and restores.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "storage/draft_text.h"
#include "storage/pending.h"
#include "storage/workspace.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("what was typed outlives the program, whenever it is killed") {
  const Scratch scratch;
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    int said[2];
    REQUIRE(::pipe(said) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
      (void)s.apply(*parse_invocation("open model=" + kModel));
      for (int edit = 0;; ++edit) {
        (void)s.apply({"text", {{"text", kPlan + "# " + std::to_string(round) + " " + std::to_string(edit) + "\n"}}});
        if (::write(said[1], &edit, sizeof edit) != sizeof edit) ::_exit(1);
      }
    }
    ::close(said[1]);
    int last = -1, edit = 0;
    const int wanted = static_cast<int>(random() % 30);
    while (last < wanted && ::read(said[0], &edit, sizeof edit) == sizeof edit) last = edit;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(said[0], &edit, sizeof edit) == sizeof edit) last = edit;  // what it had said before it died
    ::close(said[0]);
    Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
    const State state = s.state();
    REQUIRE(state.lost.size() == 1);
    const std::string& text = state.lost[0].text;
    const std::string begin = kPlan + "# " + std::to_string(round) + " ";
    REQUIRE(text.starts_with(begin));
    CHECK(std::stoi(text.substr(begin.size())) >= last);
    must(s, "restore " + std::to_string(state.lost[0].id));
    CHECK(s.state().document()->draft.text() == text);
    must(s, "text \"\"");
  }
}

TEST_CASE("a session that is closed at any moment ends") {
  const Scratch scratch;
  const std::string path = scratch.write("a.plan", kPlan);
  std::mt19937 random(3);
  for (int k = 0; k < 60; ++k) {
    Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
    must(s, "open model=" + kModel + " plan=" + path);
    if (k % 2 == 0) must(s, "append \"trans transformer.h[*] recompute\"");
    if (k % 3 == 0) (void)run(s, "keep");
    if (k % 5 == 0) must(s, "append \"trans transformer.h[0] offload\"");
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
  }
}

TEST_CASE("an edit that is made while another program has locked the workspace is not lost") {
  const Scratch scratch;
  const std::string file = scratch.file("w");
  {
    Session s({.workspace = file, .cluster = "dgx-h100x1", .patience = std::chrono::milliseconds(1)});
    must(s, "open model=" + kModel);
    Result<Database> other = Database::open(file, std::chrono::milliseconds(1));
    REQUIRE(other->execute("BEGIN IMMEDIATE").ok());
    const Result<Done> done = s.apply({"text", {{"text", kPlan}}});
    REQUIRE(done.ok());
    REQUIRE(done.diagnostics.size() == 1);
    CHECK(done.diagnostics[0].what == "not in the workspace yet: another program has locked it");
    REQUIRE(s.apply({"text", {{"text", kPlan + "# more\n"}}}).diagnostics.empty());  // it has been said
    REQUIRE(other->execute("COMMIT").ok());
    // Another program that begins meanwhile takes it in; it is this session's all the same.
    { const Session beside({.workspace = file}); CHECK(beside.state().lost.empty()); }
    CHECK_FALSE(std::filesystem::exists(pending_folder(file)));
    must(s, "select none");  // the same text is stored, and the row that was made of its file goes
    {
      SystemClock now;
      const Result<Workspace> same = Workspace::open(file, now);
      REQUIRE(same->drafts()->size() == 1);
      CHECK(same->drafts()->front().text == kPlan + "# more\n");
    }
    must(s, "append \"# end\"");
    SystemClock clock;
    const Result<Workspace> w = Workspace::open(file, clock);
    const Result<std::vector<DraftRow>> rows = w->drafts();
    REQUIRE(rows->size() == 1);
    CHECK(rows->front().text == kPlan + "# more\n# end\n");
    REQUIRE(other->execute("BEGIN IMMEDIATE").ok());
    must(s, "append \"# last\"");
  }
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(pending_folder(file))) left.push_back(entry.path().string());
  REQUIRE(left.size() == 1);
  Result<DraftRow> waits = parse_draft(read_file_text(left[0]));
  REQUIRE(waits.ok());
  CHECK(waits->text == kPlan + "# more\n# end\n# last\n");
  // As if its program had ended.
  waits->process = {"nowhere", 1, 1};
  REQUIRE(leave(file, *waits, left[0]).ok());
  Session next({.workspace = file});
  const State state = next.state();
  REQUIRE(state.lost.size() == 1);
  CHECK(state.lost[0].text == kPlan + "# more\n# end\n# last\n");
}

TEST_CASE("a draft that is restored into a plan with edits leaves them behind undo") {
  const Scratch scratch;
  const std::string path = scratch.write("a.plan", kPlan);
  SystemClock clock;
  Result<Workspace> w = Workspace::open(scratch.file("w"), clock);
  REQUIRE(w.ok());
  REQUIRE(w->put_draft({.model = kModel, .name = "a", .path = path, .cluster = "local", .text = kPlan + "# lost\n",
                        .process = {"nowhere", 1, 1}, .saved = kPlan})
              .ok());
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + path);
  must(s, "append \"# edited\"");
  must(s, "restore " + std::to_string(s.state().lost[0].id));
  CHECK(s.state().document()->draft.text() == kPlan + "# lost\n");
  must(s, "undo");
  CHECK(s.state().document()->draft.text() == kPlan + "# edited\n");
  const Result<std::vector<DraftRow>> rows = w->drafts();
  REQUIRE(rows.ok());
  CHECK(rows->size() == 1);  // this session's
}
