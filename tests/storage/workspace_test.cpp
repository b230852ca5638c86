#include <catch2/catch.hpp>

#include "scratch.h"
#include "storage/workspace.h"

using namespace planscope;

namespace {

template <class T>
T good(Result<T> r) {
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  return std::move(*r);
}

template <class T>
std::string message(const Result<T>& r) {
  CHECK_FALSE(r.ok());
  return r.diagnostics.empty() ? "" : to_string(r.diagnostics.front());
}

struct Fixture {
  Scratch scratch;
  FakeClock clock{1000};
  std::string path = scratch.file("w.planscope");
  Workspace w = good(Workspace::open(path, clock));
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a model is known by its content", "[storage]") {
  const RowId id = good(w.put_model({.digest = "d1", .name = "gpt2", .path = "a.pt2", .info = "{\"operators\":3}"}));
  clock.advance_us(5);
  CHECK(good(w.put_model({.digest = "d1", .name = "gpt2", .path = "moved.pt2", .info = "{}"})) == id);
  const RowId other = good(w.put_model({.digest = "d2", .name = "gpt2", .path = "b.pt2"}));
  CHECK(other != id);
  const ModelRow m = good(w.model(id));
  CHECK(m.path == "moved.pt2");
  CHECK(m.created_us == 1000);
  CHECK(good(w.models()).size() == 2);
  CHECK(good(w.find_model("d1"))->id == id);
  CHECK(good(w.find_model("gpt2"))->id == other);  // by name the newest
  CHECK_FALSE(good(w.find_model("llama")).has_value());
}

TEST_CASE_METHOD(Fixture, "plans keep their history", "[storage]") {
  const RowId model = good(w.put_model({.digest = "d", .name = "m"}));
  const RowId first = good(w.add_plan({.model = model, .name = "p", .text = "devices 2\n"}));
  const RowId branch = good(w.add_plan({.model = model, .parent = first, .name = "q", .text = "devices 3\n"}));
  clock.advance_us(7);
  const RowId second = good(w.add_plan({.model = model, .parent = first, .name = "p", .text = "devices 4\n"}));
  CHECK(good(w.find_plan("p"))->id == second);
  CHECK(good(w.plan(second)).created_us == 1007);
  std::vector<RowId> line;
  for (const PlanRow& p : good(w.history(second))) line.push_back(p.id);
  CHECK(line == std::vector<RowId>{second, first});
  CHECK(good(w.plans(model)).size() == 3);
  CHECK(good(w.plans(model + 1)).empty());
  CHECK(good(w.plan(branch)).text == "devices 3\n");
  const std::string odd = std::string("a\0b", 3) + "\xf0\x9f\x8c\x8d'; DROP TABLE plans; --";
  CHECK(good(w.plan(good(w.add_plan({.name = "odd", .text = odd})))).text == odd);
}

TEST_CASE_METHOD(Fixture, "predictions, verifications and profiles are listed by what they belong to", "[storage]") {
  const RowId plan = good(w.add_plan({.name = "p", .text = ""}));
  const RowId cluster = good(w.put_cluster({.digest = "c", .name = "local", .json = "{}"}));
  CHECK(good(w.put_cluster({.digest = "c", .name = "renamed", .json = "{}"})) == cluster);
  CHECK(good(w.clusters()).front().name == "local");  // a name changes by rename() alone
  good(w.add_prediction({.plan = plan, .cluster = cluster, .json = "{\"step_us\":5}"}));
  good(w.add_verification({.plan = plan, .verdict = "equivalent", .json = "{}"}));
  CHECK(good(w.predictions(plan)).front().json == "{\"step_us\":5}");
  CHECK(good(w.predictions(plan + 1)).empty());
  CHECK(good(w.verifications()).front().verdict == "equivalent");
  const RowId profile = good(w.put_profile({.device = "cpu", .signature = "linear 2x3", .json = "{\"us\":1}"}));
  CHECK(good(w.put_profile({.device = "cpu", .signature = "linear 2x3", .json = "{\"us\":2}"})) == profile);
  CHECK(good(w.find_profile("cpu", "linear 2x3"))->json == "{\"us\":2}");
  CHECK_FALSE(good(w.find_profile("gpu", "linear 2x3")).has_value());
  CHECK(good(w.profiles("cpu")).size() == 1);
}

TEST_CASE_METHOD(Fixture, "a run has spans and an end", "[storage]") {
  const RowId plan = good(w.add_plan({.name = "p", .text = ""}));
  const RowId run = good(w.start_run(plan, 2, {"boot", 77, 5}));
  std::vector<SpanRow> spans;
  for (int i = 0; i < 20000; ++i)
    spans.push_back({1 - i % 2, i / 100, i, i % 3 ? "compute" : "all_reduce", i * 1.5, 0.25});
  good(w.add_spans(run, spans));
  const std::vector<SpanRow> back = good(w.spans(run));
  REQUIRE(back.size() == spans.size());
  CHECK(back.front() == spans[1]);  // rank 0 first
  CHECK(back.back() == spans[19998]);
  CHECK(good(w.run(run)).status == RunStatus::running);
  CHECK_FALSE(good(w.run(run)).ended_us.has_value());
  clock.advance_us(50);
  good(w.end_run(run, RunStatus::done, "{\"step_us\":[1]}"));
  const RunRow r = good(w.run(run));
  CHECK(r == RunRow{run, plan, 2, RunStatus::done, {"boot", 77, 5}, 1000, 1050, "{\"step_us\":[1]}"});
}

TEST_CASE_METHOD(Fixture, "runs of dead processes are closed, others are left", "[storage]") {
  const RowId plan = good(w.add_plan({.name = "p", .text = ""}));
  const RowId dead = good(w.start_run(plan, 2, {"boot", 1, 1}));
  const RowId alive = good(w.start_run(plan, 2, {"boot", 1, 2}));
  const RowId ended = good(w.start_run(plan, 2, {"boot", 1, 1}));
  good(w.end_run(ended, RunStatus::failed, "{}"));
  CHECK(good(w.close_abandoned_runs([](const ProcessIdentity& p) { return p.start == 2; })) == 1);
  CHECK(good(w.run(dead)).status == RunStatus::interrupted);
  CHECK(good(w.run(alive)).status == RunStatus::running);
  CHECK(good(w.run(ended)).status == RunStatus::failed);
}

TEST_CASE_METHOD(Fixture, "rows that are not there and rows that do not fit are refused", "[storage]") {
  CHECK(message(w.plan(9)) == path + ": there is no plan 9");
  CHECK(message(w.end_run(4, RunStatus::done, "{}")) == path + ": there is no run 4");
  CHECK(message(w.add_plan({.model = 5, .name = "p", .text = ""})) ==
        path + ": the workspace cannot be used; FOREIGN KEY constraint failed");
  CHECK(message(w.add_spans(3, {{0, 0, 0, "compute", 0, 1}})) ==
        path + ": the workspace cannot be used; FOREIGN KEY constraint failed");
  CHECK(message(w.put_model({.digest = "d", .name = "m", .path = "p", .info = "{broken"})) ==
        path + ": the workspace cannot be used; CHECK constraint failed: json_valid(info)");
  CHECK(good(w.plans()).empty());
  CHECK(good(w.models()).empty());
  good(w.add_plan({.name = "still works", .text = ""}));
}

TEST_CASE_METHOD(Fixture, "two open workspaces see each other's rows", "[storage]") {
  Workspace other = good(Workspace::open(path, clock));
  const RowId id = good(w.add_plan({.name = "p", .text = "x"}));
  CHECK(good(other.plan(id)).text == "x");
  good(other.add_plan({.name = "q", .text = "y"}));
  CHECK(good(w.plans()).size() == 2);
  good(w.check());
}

namespace {

struct Filled : Fixture {
  RowId model = good(w.put_model({.digest = "d", .name = "m"}));
  RowId cluster = good(w.put_cluster({.digest = "c", .name = "k", .json = "{}"}));
  RowId first = good(w.add_plan({.model = model, .name = "p", .text = "1"}));
  RowId second = good(w.add_plan({.model = model, .parent = first, .name = "p", .text = "2"}));
  RowId third = good(w.add_plan({.model = model, .parent = second, .name = "p", .text = "3"}));
  RowId other = good(w.add_plan({.model = model, .parent = second, .name = "q", .text = "4"}));
  RowId run = good(w.start_run(second, 2, {"boot", 77, 5}));

  Filled() {
    good(w.add_spans(run, {{0, 0, 0, "compute", 0, 1}}));
    for (const RowId v : {second, third}) good(w.add_prediction({.plan = v, .cluster = cluster, .json = "{}"}));
    good(w.add_verification({.plan = second, .verdict = "equivalent", .json = "{}"}));
    good(w.put_draft({.model = "m.pt2", .name = "p", .version = second, .text = "5"}));
    good(w.put_label({.kind = EntryKind::version, .id = second, .name = "the good one", .note = "n"}));
    good(w.put_label({.kind = EntryKind::run, .id = run, .note = "cold"}));
  }
};

}  // namespace

TEST_CASE_METHOD(Filled, "a version is deleted with what belongs to it, and the line of descent is closed",
                 "[storage]") {
  CHECK(good(w.goes_with(EntryKind::version, second)) == RemovedRows{1, 1, 1, 0});
  good(w.remove(EntryKind::version, second));
  CHECK(good(w.plan(third)).parent == first);
  CHECK(good(w.plan(other)).parent == first);
  CHECK(good(w.runs()).empty());
  CHECK(good(w.spans(run)).empty());
  CHECK(good(w.predictions()).size() == 1);
  CHECK(good(w.verifications()).empty());
  CHECK(good(w.labels()).empty());
  CHECK_FALSE(good(w.drafts()).front().version.has_value());  // its text stays
  CHECK(message(w.remove(EntryKind::version, second)) == path + ": there is no version " + std::to_string(second));
}

TEST_CASE_METHOD(Filled, "a plan is all versions of its name on its model", "[storage]") {
  CHECK(good(w.goes_with(EntryKind::plan, first)) == RemovedRows{3, 1, 2, 0});
  good(w.rename(EntryKind::plan, third, "better"));
  for (const RowId v : {first, second, third}) CHECK(good(w.plan(v)).name == "better");
  CHECK(message(w.rename(EntryKind::plan, first, "q")) == "there is a plan 'q' already; choose another name");
  good(w.rename(EntryKind::plan, first, "better"));
  good(w.remove(EntryKind::plan, first));
  CHECK(good(w.plans()).size() == 1);
  CHECK_FALSE(good(w.plan(other)).parent.has_value());
  CHECK(good(w.goes_with(EntryKind::model, model)) == RemovedRows{1, 0, 0, 0});
  good(w.remove(EntryKind::model, model));
  CHECK(good(w.models()).empty());
  CHECK(good(w.plans()).empty());
}

TEST_CASE_METHOD(Filled, "a plan of the same name that was not edited from another one is another plan", "[storage]") {
  const RowId same = good(w.add_plan({.model = model, .name = "p", .text = "6"}));
  CHECK(good(w.goes_with(EntryKind::plan, first)).versions == 3);
  good(w.remove(EntryKind::plan, same));
  CHECK(good(w.plans()).size() == 4);
}

TEST_CASE_METHOD(Filled, "the number of a plan or a run that was deleted is given to no other one", "[storage]") {
  good(w.remove(EntryKind::version, other));
  CHECK(good(w.add_plan({.model = model, .name = "q", .text = "4"})) == other + 1);
  good(w.remove(EntryKind::run, run));
  CHECK(good(w.start_run(first, 2, {"boot", 77, 5})) == run + 1);
  CHECK_FALSE(w.add_plan({.model = model, .parent = other, .name = "q", .text = "5"}).ok());
  CHECK_FALSE(w.add_plan({.model = model, .parent = other + 2, .name = "q", .text = "5"}).ok());  // its own number
}

TEST_CASE_METHOD(Filled, "names and notes stay with their row until they are empty", "[storage]") {
  good(w.rename(EntryKind::run, run, "cold start"));
  CHECK(good(w.labels()) == std::vector<LabelRow>{{EntryKind::run, run, "cold start", "cold"},
                                                  {EntryKind::version, second, "the good one", "n"}});
  good(w.put_label({.kind = EntryKind::run, .id = run}));
  CHECK(good(w.labels()).size() == 1);
  good(w.rename(EntryKind::model, model, "m2"));
  good(w.put_model({.digest = "d", .name = "m", .path = "elsewhere"}));
  CHECK(good(w.model(model)).name == "m2");
  const RowId b = good(w.put_cluster({.digest = "c2", .name = "k2", .json = "{}"}));
  CHECK(message(w.rename(EntryKind::cluster, b, "k")) == "there is a cluster 'k' already; choose another name");
  CHECK(good(w.goes_with(EntryKind::cluster, cluster)) == RemovedRows{0, 0, 2, 0});
  good(w.remove(EntryKind::cluster, cluster));
  CHECK(good(w.predictions()).empty());
  good(w.put_profile({.device = "x", .signature = "a", .json = "{}"}));
  good(w.put_profile({.device = "x", .signature = "b", .json = "{}"}));
  const ProfiledDevice device = good(w.profiled_devices()).front();
  CHECK(good(w.goes_with(EntryKind::profile, device.id)) == RemovedRows{0, 0, 0, 2});
  good(w.remove(EntryKind::profile, device.id));
  CHECK(good(w.profiled_devices()).empty());
}
