// What a start page offers: what was open lately, samples, how to bring a model of one's own, drafts that were lost.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "app/session/layout.h"
#include "app/session/notices.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

namespace {

const std::string model = "sample_models/gpt2_tiny.pt2", other = "sample_models/bert_tiny.pt2";
const std::string script = "sample_models/plans/gpt2_tiny-1f1b.plan";

void must(Session& s, const std::string& line) {
  const Result<Done> done = s.apply(*parse_invocation(line));
  INFO(line << ": " << to_string(done.diagnostics));
  REQUIRE(done.ok());
}

// Model and plan of each row.
std::vector<std::pair<std::string, std::string>> recent(const Session& s) {
  std::vector<std::pair<std::string, std::string>> out;
  const Panel p = *make_panel("recent", s.state());
  for (const TableRow& row : p.rows) out.emplace_back(row.cells[0].text, row.cells[1].text);
  return out;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("what was open lately is offered at the next start, the newest first, each thing once") {
  const Scratch scratch;
  const SessionSettings settings{.workspace = scratch.file("w.planscope"), .cluster = "dgx-h100x1"};
  {
    Session s(settings);
    CHECK(recent(s).empty());
    must(s, "open model=" + model + " plan=" + script);
    must(s, "open model=" + other);
    CHECK(recent(s) == Rows{{"bert_tiny.pt2", ""}, {"gpt2_tiny.pt2", "gpt2_tiny-1f1b.plan"}});
    must(s, "append \"devices 1\"");
    must(s, "keep");
    CHECK(recent(s)[0].second.starts_with("version "));
    must(s, "save " + scratch.file("mine.plan"));
    must(s, "cluster dgx-a100x1");
    CHECK(recent(s) == Rows{{"bert_tiny.pt2", "mine.plan"}, {"gpt2_tiny.pt2", "gpt2_tiny-1f1b.plan"}});
    must(s, "document 1");
  }
  Session again(settings);
  CHECK(recent(again) == Rows{{"gpt2_tiny.pt2", "gpt2_tiny-1f1b.plan"}, {"bert_tiny.pt2", "mine.plan"}});
  const Panel p = *make_panel("recent", again.state());
  must(again, p.rows[1].command);
  CHECK(again.state().document()->name == "mine");
  CHECK(again.state().document()->cluster == "dgx-a100x1");
}

TEST_CASE("a session sees what another one has opened, and no model that has gone") {
  const Scratch scratch;
  const SessionSettings settings{.workspace = scratch.file("w.planscope")};
  Session one(settings), two(settings);
  std::filesystem::copy(model, scratch.file("gone.pt2"));
  must(one, "open model=" + scratch.file("gone.pt2"));
  must(one, "open model=" + model);
  two.refresh();
  CHECK(recent(two) == Rows{{"gpt2_tiny.pt2", ""}, {"gone.pt2", ""}});
  std::filesystem::remove(scratch.file("gone.pt2"));
  two.refresh();
  CHECK(recent(two) == Rows{{"gpt2_tiny.pt2", ""}});
}

TEST_CASE("samples and the program for a model of one's own are panels at the start") {
  Session s({.samples = "sample_models"});
  const Panel samples = *make_panel("samples", s.state());
  const auto is = [](const TableRow& r) { return r.id.ends_with("gpt2_tiny-1f1b.plan"); };
  const auto row = std::find_if(samples.rows.begin(), samples.rows.end(), is);
  REQUIRE(row != samples.rows.end());
  CHECK(row->parent.ends_with("gpt2_tiny.pt2"));
  must(s, row->command);
  CHECK(s.state().document()->name == "gpt2_tiny-1f1b");
  const Json own = to_json(*make_panel("own_model", s.state()));
  CHECK(own["text"].get<std::string>().find("torch.export.save(program, ") != std::string::npos);
  for (const char* id : {"drafts", "recent", "samples", "own_model"}) {
    const auto all = shipped_layout();
    const auto place = std::find_if(all.begin(), all.end(), [&](const PanelPlace& p) { return p.panel == id; });
    REQUIRE(place != all.end());
    CHECK(place->side == Side::start);
  }
}

TEST_CASE("a plan alone is opened on the model that it was opened with, else the refusal says what to open first") {
  const Scratch scratch;
  const SessionSettings settings{.workspace = scratch.file("w.planscope")};
  const auto refused = [](Session& s, const std::string& line) {
    return to_string(s.apply(*parse_invocation(line)).diagnostics.at(0));
  };
  {
    Session s(settings);
    CHECK(refused(s, "open plan=" + script) ==
          script + ": a plan is opened on its model, and this one's is not known; no model is open; open or drop the model "
                   "(.pt2) first, or both together");
    must(s, "open model=" + model + " plan=" + script);
    must(s, "open model=" + model);
    must(s, "append \"devices 1\"");
    must(s, "keep");
  }
  Session s(settings);
  must(s, "open plan=" + script);
  CHECK(s.state().document()->model->model->name == "gpt2_tiny");
  CHECK(s.state().document()->name == "gpt2_tiny-1f1b");
  must(s, "close");
  must(s, "open plan=1");  // as the workspace counts them
  CHECK(s.state().document()->draft.text() == "devices 1\n");
}

TEST_CASE("a cluster that is chosen while nothing is open waits for the next model") {
  Session s({.cluster = "dgx-h100x1"});
  CHECK_FALSE(s.apply(*parse_invocation("cluster no-such-cluster")).ok());
  CHECK(notices(s.state()).empty());
  must(s, "cluster dgx-a100x1");
  REQUIRE(notices(s.state()).size() == 1);
  CHECK(notices(s.state())[0].said.starts_with("The next model is planned for the cluster 'dgx-a100x1'"));
  must(s, "open model=" + model);
  CHECK(s.state().document()->cluster == "dgx-a100x1");
  CHECK(notices(s.state()).empty());
  must(s, "open model=" + other);
  CHECK(s.state().document()->cluster == "dgx-h100x1");
}

TEST_CASE("a draft that was lost is told with what settles it") {
  const Scratch scratch;
  const SessionSettings settings{.workspace = scratch.file("w.planscope")};
  Session one(settings), two(settings);
  must(one, "open model=" + model);
  must(one, "append \"devices 1\"");
  CHECK(notices(two.state()).empty());
  one.leave_drafts();
  two.refresh();
  const std::vector<Notice> told = notices(two.state());
  REQUIRE(told.size() == 1);
  CHECK(told[0].said.starts_with("A draft of 'plan' was not kept when planscope ended ("));
  REQUIRE(told[0].offers.size() == 2);
  must(two, told[0].offers[0].command);
  CHECK(two.state().document()->draft.text() == "devices 1\n");
  CHECK(notices(two.state()).empty());
}

TEST_CASE("a draft whose cluster has gone is restored on another cluster") {
  const Scratch scratch;
  const SessionSettings settings{.workspace = scratch.file("w.planscope"), .cluster = "dgx-h100x1"};
  const std::string cluster = scratch.file("mine.json");
  Session one(settings);
  must(one, "open model=" + model);
  must(one, "export cluster " + cluster);
  must(one, "cluster " + cluster);
  must(one, "append \"devices 1\"");
  one.leave_drafts();
  std::filesystem::remove(cluster);
  Session next(settings);
  REQUIRE(next.state().lost.size() == 1);
  const Result<Done> restored = next.apply({"restore", {{"draft", std::to_string(next.state().lost[0].id)}}});
  REQUIRE(restored.ok());
  CHECK(to_string(restored.diagnostics).find("mine.json' is not there any more") != std::string::npos);
  CHECK(next.state().document()->cluster == "dgx-h100x1");
  CHECK(next.state().document()->draft.text() == "devices 1\n");
  CHECK_FALSE(next.apply({"open", {{"model", other}, {"cluster", cluster}}}).ok());
  CHECK(next.state().documents.size() == 1);
}
