// Recordings, and those that wait beside a workspace that another program has locked.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "storage/draft_text.h"
#include "storage/pending.h"
#include "scratch.h"

using namespace planscope;

namespace {

Recording verified(const std::string& text) {
  Recording r;
  r.model.digest = "9f";
  r.model.name = "tiny";
  r.plan.name = "data";
  r.plan.text = text;
  r.cluster.digest = "c1";
  r.cluster.name = "local";
  r.cluster.json = "{}";
  r.verification.emplace();
  r.verification->verdict = "equivalent";
  r.verification->json = "{}";
  return r;
}

Recording ran(RowId id = 0) {
  Recording r = verified("devices 2 as data=2\n");
  r.verification.reset();
  r.run = RunRow{id, 0, 2, RunStatus::done, {"boot", 7, 8}, 100, 200, "{\"step_us\":[1]}"};
  r.spans = {{0, 1, 2, "compute", 0.5, 1.5}};
  return r;
}

Workspace opened(const std::string& path, const Clock& clock) {
  return std::move(*Workspace::open(path, clock, {.patience = std::chrono::milliseconds(1)}));
}

}  // namespace

TEST_CASE("a recording survives its text", "[storage]") {
  Recording r = ran();
  r.prediction.emplace();
  r.prediction->json = "{\"step_us\":1}";
  CHECK(*parse_recording(print(r)) == r);
  CHECK(*parse_recording(print(verified("x"))) == verified("x"));
  CHECK_FALSE(parse_recording("{}").ok());
}

TEST_CASE("a recording is stored whole, its plan once", "[storage]") {
  const Scratch scratch;
  const FakeClock clock;
  Workspace w = opened(scratch.file("w"), clock);
  const RecordedRows first = *w.add(verified("devices 2 as data=2\n"));
  const RecordedRows again = *w.add(ran());
  CHECK(first.plan == again.plan);
  CHECK(w.verifications(first.plan)->size() == 1);
  const RunRow run = *w.run(again.run);
  CHECK(run.status == RunStatus::done);
  CHECK(run.started_us == 100);
  CHECK(run.ended_us == 200);
  CHECK(w.spans(run.id)->size() == 1);
  const RecordedRows edited = *w.add(verified("devices 4 as data=4\n"));
  CHECK(w.plan(edited.plan)->parent == first.plan);
}

TEST_CASE("the end of a run is stored although it was taken for abandoned", "[storage]") {
  const Scratch scratch;
  const FakeClock clock;
  Workspace w = opened(scratch.file("w"), clock);
  const RecordedRows rows = *w.add(verified("devices 2 as data=2\n"));
  const RowId run = *w.start_run(rows.plan, 2, {"boot", 7, 8});
  REQUIRE(*w.close_abandoned_runs([](const ProcessIdentity&) { return false; }) == 1);
  REQUIRE(w.add(ran(run)).ok());
  CHECK(w.run(run)->status == RunStatus::done);
  CHECK(w.runs()->size() == 1);
}

TEST_CASE("what is found out while the workspace is locked is taken in later", "[storage]") {
  const Scratch scratch;
  const FakeClock clock;
  const std::string file = scratch.file("w");
  Workspace w = opened(file, clock);
  Database other = std::move(*Database::open(file, std::chrono::milliseconds(1)));
  REQUIRE(other.execute("BEGIN IMMEDIATE").ok());
  CHECK(is_locked(w.add(ran()).diagnostics));
  REQUIRE(leave(file, ran()).empty());
  REQUIRE(leave(file, verified("devices 2 as data=2\n")).empty());
  CHECK(*take_in(w) == 0);
  REQUIRE(other.execute("COMMIT").ok());
  CHECK(*take_in(w) == 2);
  CHECK(*take_in(w) == 0);
  CHECK(w.runs()->size() == 1);
  CHECK(w.verifications()->size() == 1);
  CHECK_FALSE(std::filesystem::exists(pending_folder(file)));
}

TEST_CASE("a draft survives its text", "[storage]") {
  const DraftRow whole{.id = 3, .model = "/m.pt2", .name = "data", .path = "/a.plan", .cluster = "local", .version = 7,
                       .text = "devices 2 as data=2\n", .process = {"boot", 7, 8}, .written_us = 9, .saved = ""};
  CHECK(*parse_draft(print(whole)) == whole);
  CHECK(*parse_draft(print(DraftRow{.text = "é\"\n"})) == DraftRow{.text = "é\"\n"});
  CHECK_FALSE(parse_draft("{\"draft\": {}}").ok());
}

TEST_CASE("a draft that waits is taken in unless its row has been written since", "[storage]") {
  const Scratch scratch;
  FakeClock clock;
  const std::string file = scratch.file("w");
  Workspace w = opened(file, clock);
  const Result<std::string> waits = leave(file, {.name = "new", .text = "first"});
  REQUIRE(waits.ok());
  CHECK(*leave(file, {.name = "new", .text = "second"}, *waits) == *waits);
  clock.advance_us(10);
  const RowId older = *w.put_draft({.name = "older", .text = "stored"});
  const std::int64_t stored_us = clock.wall_us();
  REQUIRE(leave(file, {.id = older, .name = "older", .text = "before", .written_us = stored_us - 1}).ok());
  CHECK(*take_in(w) == 2);
  std::map<std::string, std::string> texts;
  for (const DraftRow& d : *w.drafts()) texts[d.name] = d.text;
  CHECK(texts == std::map<std::string, std::string>{{"new", "second"}, {"older", "stored"}});
  REQUIRE(leave(file, {.id = older, .name = "older", .text = "after", .written_us = stored_us + 1}).ok());
  CHECK(*take_in(w) == 1);
  CHECK(w.drafts()->size() == 2);
  CHECK(w.drafts()->front().text == "after");
}

TEST_CASE("a file that is no recording stays and is told", "[storage]") {
  const Scratch scratch;
  const FakeClock clock;
  const std::string file = scratch.file("w");
  Workspace w = opened(file, clock);
  REQUIRE(leave(file, ran()).empty());
  std::ofstream(pending_folder(file) + "/0.json") << "half";
  const Result<std::int64_t> taken = take_in(w);
  CHECK(*taken == 1);
  REQUIRE(taken.diagnostics.size() == 1);
  CHECK(taken.diagnostics[0].what == "the recording is malformed");
  CHECK(std::filesystem::exists(pending_folder(file) + "/0.json"));
}

TEST_CASE("a workspace that may only be read can be read", "[storage]") {
  const Scratch scratch;
  const FakeClock clock;
  const std::string file = scratch.file("with space %41?#");
  RowId plan = 0;
  {
    Workspace w = opened(file, clock);
    plan = w.add(ran())->plan;
  }
  Database reader = std::move(*Database::open_read_only(file, std::chrono::milliseconds(1)));
  const auto names = reader.select<std::string>("SELECT name FROM plans", {}, [](const Row& r) { return r.text(0); });
  CHECK(*names == std::vector<std::string>{"data"});
  CHECK_FALSE(reader.execute("DELETE FROM plans").ok());
  if (::geteuid() == 0) return;  // root may write everywhere
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const Result<Workspace> w = Workspace::open(file, clock);
  REQUIRE(w.ok());
  CHECK(w->plan(plan)->name == "data");
}
