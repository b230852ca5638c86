// What a session must never do: lose what was typed, or say something that is not so.
#include "app/session/session.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"
#include "app/session/views.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "storage/draft_text.h"
#include "storage/pending.h"
#include "storage/workspace.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

const std::string kModel = "sample_models/gpt2_tiny.pt2";
const std::string kPlan = "devices 2 as data=2\ntrans * batch by data\n";

}  // namespace

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

TEST_CASE("a cluster that somebody has said is taken, whichever is preferred") {
  const auto cluster_of = [](Session& s, const std::string& open) {
    must(s, "prefer cluster dgx-a100x1");
    must(s, open);
    return s.state().document()->cluster;
  };
  Session unsaid({});
  CHECK(cluster_of(unsaid, "open model=" + kModel) == "dgx-a100x1");
  must(unsaid, "open model=sample_models/llama_tiny.pt2 cluster=local");
  CHECK(unsaid.state().document()->cluster == "local");
  Session said({.cluster = "local"});
  CHECK(cluster_of(said, "open model=" + kModel) == "local");
}

TEST_CASE("it is counted how often something is selected, not how often that changes by itself") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  const int before = s.state().selections;
  must(s, "select statement=2");
  must(s, "select statement=2");
  CHECK(s.state().selections == before + 2);
  must(s, "append \"# more\"");
  CHECK(s.state().selections == before + 2);
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

TEST_CASE("undo stays within its document, and opening another one discards nothing") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "append \"# edited\"");
  must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
  CHECK(s.state().documents.size() == 2);
  CHECK_FALSE(run(s, "undo").ok());
  CHECK(s.state().document()->draft.text() == "devices 1\n");
  must(s, "document 1");
  CHECK(s.state().document()->draft.text() == kPlan + "# edited\n");
  CHECK_FALSE(run(s, "close").ok());  // it has edits
  must(s, "close discard=yes");
  CHECK(s.state().document()->name == "b");
}

TEST_CASE("figures are of the text as it stands, or say that they are not") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  s.wait();
  const Json good = chips(s);
  CHECK(good["current"] == true);
  CHECK(good["verdict"] == "equivalent");
  must(s, "append \"nonsense here\"");
  s.wait();
  const Json broken = chips(s);
  CHECK(broken["current"] == false);
  CHECK(broken["verdict"] == "refused");
  CHECK(broken["step_us"] == good["step_us"]);  // the last good picture stays
  CHECK(broken["reason"].get<std::string>().find("of an older text: line 3") == 0);
  must(s, "undo");
  CHECK(chips(s)["current"] == true);  // known already: nothing is computed
  must(s, "cluster dgx-a100x1");
  s.wait();
  CHECK(chips(s)["current"] == true);
  CHECK(chips(s)["step_us"] != good["step_us"]);
  must(s, "cluster dgx-h100x1");
  s.wait();
  CHECK(chips(s)["step_us"] == good["step_us"]);
}

namespace {

// Keeps the thread on which plans are evaluated where it tells of a change, as long as it lives.
class Held {
 public:
  explicit Held(Session& s) : session_(s) {
    s.on_change([this, mine = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == mine) return;
      std::unique_lock lock(mutex_);
      held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !holds_; });
    });
  }
  ~Held() {
    release();
    session_.wait();
    session_.on_change({});
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    holds_ = false;
    changed_.notify_all();
  }

 private:
  Session& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool holds_ = true, held_ = false;
};

}  // namespace

TEST_CASE("while a text is being evaluated the last picture stays, and says of which text it is") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  s.wait();
  {
    Held held(s);
    write(s, kPlan);
    CHECK(chips(s)["reason"] == "of the model without a plan: the newest text is being evaluated");  // no text was there
    held.wait();  // predicted, and not yet verified
    CHECK(chips(s)["current"] == true);
    CHECK(chips(s)["verdict"] == "pending");
    const Json predicted = chips(s);
    must(s, "append \"trans transformer.h[*] recompute\"");
    CHECK(chips(s)["current"] == false);
    CHECK(chips(s)["step_us"] == predicted["step_us"]);
    CHECK(chips(s)["reason"] == "of an older text: the newest text is being evaluated");
    CHECK(panel(s, "timeline")["reason"] == "of an older text: the newest text is being evaluated");
    must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
    CHECK(chips(s)["current"] == false);
    CHECK(chips(s)["step_us"] == predicted["step_us"]);
    CHECK(chips(s)["reason"] == "of the plan 'plan': the newest text is being evaluated");
    CHECK_FALSE(panel(s, "timeline")["lanes"].empty());
    must(s, "open model=sample_models/llama_tiny.pt2 plan=" + scratch.file("b.plan"));
    CHECK(chips(s)["step_us"].is_null());  // a picture of another model says nothing of this one
    CHECK(chips(s)["reason"] == "the newest text is being evaluated");
    CHECK(words_of(**find_canvas("graph"), s.state()).stale.empty());
  }
  CHECK(chips(s)["current"] == true);
  CHECK(chips(s)["verdict"] == "equivalent");
}

TEST_CASE("the last picture stays while arguments are open, and goes where another plan has none") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  s.wait();
  const Json good = chips(s);
  const std::string open = "devices 8 as data=?d tensor=?t where ?d * ?t = 8\ntrans * batch by data\n";
  write(s, open);
  s.wait();
  CHECK(chips(s)["verdict"] == "open");
  CHECK(chips(s)["current"] == false);
  CHECK(chips(s)["step_us"] == good["step_us"]);
  CHECK(chips(s)["reason"] == "of an older text: the plan leaves arguments open");
  CHECK_FALSE(panel(s, "timeline")["lanes"].empty());
  must(s, "select operators=\"transformer.h[*].mlp\"");
  s.wait();
  CHECK_FALSE(panel(s, "operator").contains("reason"));  // looked at in the text as it stands
  must(s, "open plan=" + scratch.write("b.plan", "nonsense\n"));
  s.wait();
  CHECK(chips(s)["verdict"] == "refused");
  CHECK(chips(s)["step_us"].is_null());
}

TEST_CASE("a search that is stopped before it has found anything says what it has, and no bound that is not known") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x8"});
  must(s, "open model=sample_models/t5_large.pt2");
  must(s, "plan whole limit=60");
  if (!run(s, "cancel 1").ok()) return;  // it has ended by itself
  s.wait();
  const Json p = panel(s, "planner");
  CHECK(p["status"] != "running");
  CHECK(p["status"] != "stopped");
  CHECK_FALSE(p.contains("cancel"));
  CHECK(p["candidates"].empty() == p["step_us"].is_null());
  CHECK(p["progress"].empty() == p["step_us"].is_null());
  for (const Json& c : p["candidates"])
    if (!c["lower_bound_us"].is_null()) CHECK(c["lower_bound_us"] > 0);
  CHECK(panel(s, "jobs")["rows"][0]["state"] != "running");
}

TEST_CASE("a search that is cancelled keeps the best that it has") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x16"});
  must(s, "open model=sample_models/llama3_8b.pt2");
  must(s, "plan whole batch=256");
  while (panel(s, "planner").value("progress", Json::array()).empty() && panel(s, "jobs")["rows"][0]["state"] == "running")
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const bool stopped = run(s, "cancel 1").ok();  // else it has ended by itself
  s.wait();
  CHECK_FALSE(run(s, "cancel 1").ok());
  CHECK(panel(s, "jobs")["rows"][0]["state"] == (stopped ? "cancelled" : "done"));
  REQUIRE_FALSE(panel(s, "planner")["candidates"].empty());
  must(s, "accept");
  s.wait();
  CHECK(chips(s)["verdict"] == "equivalent");
  CHECK(chips(s)["step_us"] == panel(s, "planner")["candidates"][0]["step_us"]);
  must(s, "keep");
  s.wait();
  REQUIRE(panel(s, "history")["nodes"].size() == 1);
  CHECK(panel(s, "history")["nodes"][0]["step_us"] == chips(s)["step_us"]);
}

TEST_CASE("memory rows are judged, and open plans are shown as open") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan + "require memory(all) <= 1MiB\n");
  s.wait();
  Json rows = to_json(problems_panel(s.state()))["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["severity"] == "warning");
  CHECK(rows[0]["line"] == 3);
  write(s, "devices 8 as data=?d tensor=?t where ?d * ?t = 8\ntrans * batch by data\n");
  s.wait();
  CHECK(chips(s)["verdict"] == "open");
  rows = to_json(problems_panel(s.state()))["rows"];
  REQUIRE(rows.size() >= 2);
  for (const Json& r : rows) CHECK(r["severity"] == "note");
}

TEST_CASE("what an edit changes is what the plans differ by") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "local"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  must(s, "keep");
  s.wait();
  const Json before = chips(s);
  must(s, "append \"trans transformer.h[*] recompute\"");
  s.wait();
  const Json preview = chips(s)["preview"];
  CHECK(preview["step_delta_us"].get<double>() > 0);
  CHECK(preview["peak_delta_bytes"].get<double>() < 0);
  must(s, "keep");
  s.wait();
  const Json after = chips(s);
  CHECK(after["preview"].is_null());
  CHECK(after["step_us"].get<double>() - before["step_us"].get<double>() == Approx(preview["step_delta_us"].get<double>()));
  CHECK(after["peak_bytes"].get<double>() - before["peak_bytes"].get<double>() == preview["peak_delta_bytes"].get<double>());
  must(s, "undo");
  s.wait();
  CHECK(chips(s)["step_us"] == before["step_us"]);
  must(s, "redo");
  s.wait();
  CHECK(chips(s)["step_us"] == after["step_us"]);
}

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

TEST_CASE("1,000 edits and undos over two documents stay exact") {
  const Scratch scratch;
  std::mt19937 random(11);
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
  std::vector<std::vector<std::string>> texts = {{kPlan}, {"devices 1\n"}};
  std::vector<std::size_t> at = {0, 0};
  std::size_t now = 1;
  for (int step = 0; step < 1000; ++step) {
    switch (random() % 4) {
      case 0:
        now = 1 - now;
        must(s, "document " + std::to_string(now + 1));
        break;
      case 1:
        if (at[now] > 0) --at[now], must(s, "undo");
        break;
      case 2:
        if (at[now] + 1 < texts[now].size()) ++at[now], must(s, "redo");
        break;
      case 3: {
        const std::string line = "# edit " + std::to_string(step);
        const std::string text = texts[now][at[now]] + line + "\n";
        texts[now].resize(++at[now]);
        texts[now].push_back(text);
        must(s, "append \"" + line + "\"");
      }
    }
    REQUIRE(s.state().document()->draft.text() == texts[now][at[now]]);
  }
  s.wait();
  CHECK(chips(s)["current"] == true);
}

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
    must(s, "drop");
  }
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
  CHECK(two.state().document()->versions->size() == 1);
  must(one, "append \"# more\"");
  must(one, "keep");
  must(two, "select none");
  CHECK(two.state().document()->versions->size() == 2);
  const auto plans = [](const Session& s) {
    const State state = s.state();
    return std::count_if(state.entries->begin(), state.entries->end(), [](const WorkspaceEntry& e) { return e.kind == "plan"; });
  };
  CHECK(plans(one) == 1);  // its own too
  CHECK(plans(two) == 1);
}

TEST_CASE("every version has figures, also one that nobody waited for") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "keep");
  for (const char* line : {"trans transformer.h[0] recompute", "trans transformer.h[0] offload", "# nothing"}) {
    must(s, std::string("append \"") + line + "\"");
    must(s, "keep");
  }
  must(s, "append \"trans no_such_module recompute\"");
  must(s, "keep");
  must(s, "undo");
  s.wait();
  const State state = s.state();
  REQUIRE(state.document()->versions->size() == 5);
  for (const Version& v : *state.document()->versions) {
    INFO(v.change);
    const bool wrong = v.text.find("no_such_module") != std::string::npos;
    CHECK(v.figures.step_us.has_value() == !wrong);
    CHECK(v.figures.verdict == (wrong ? "" : "equivalent"));
  }
}

TEST_CASE("the reference has every statement of the language, with an example that can be written") {
  const Panel p = reference_panel({});
  std::set<std::string> written;
  for (const TableRow& row : p.rows) {
    if (row.parent != "Statements" || row.cells[0].text.empty()) continue;
    const std::string& example = row.cells[2].text;
    INFO(example);
    CHECK(plan::parse_plan(example + (example.starts_with("template") ? "\nend" : ""), "").ok());
    written.insert(example.substr(0, example.find(' ')));
  }
  const Result<plan::Statement> none = plan::parse_statement("zzzzzzzz");
  REQUIRE_FALSE(none.ok());
  std::string all = none.diagnostics.front().what;  // `… Statements: devices, grid, …, end.`
  all = all.substr(all.find("Statements: ") + 12);
  all.pop_back();
  for (std::string word : split(all, ',')) {
    word.erase(0, word.find_first_not_of(' '));
    INFO(word);
    // Conditions and templates are rows that hold several words.
    if (word != "end" && word != "forbid") CHECK(written.contains(word));
  }
}

TEST_CASE("a time is told with its parts") {
  CHECK(sum_and_parts_text({}) == "0 µs");
  CHECK(sum_and_parts_text({{"warm-up", 0}, {"data", 43}}) == "43 µs: data");
  CHECK(sum_and_parts_text({{"warm-up", 30}, {"cool-down", 0}, {"data", 13}}) == "43 µs: warm-up 30 µs, data 13 µs");
  CHECK(each_part_text({{"forward", 12}}) == "forward 12 µs");
  CHECK(each_part_text({{"forward", 0}}) == "–");
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
