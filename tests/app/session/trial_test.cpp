// Trials and comparison as jobs of a session.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

namespace {

const std::string kModel = "sample_models/gpt2_tiny.pt2";
const std::string kPipeline =
    "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\nassign S[i] to pipe=i\nuse 1f1b(S)\n";

struct Fixture {
  Scratch scratch;
  Session s{{.workspace = scratch.file("w"), .cluster = "local", .programs = PLANSCOPE_BIN_DIR}};

  Result<Done> run(const std::string& line) {
    const Result<Invocation> i = parse_invocation(line);
    INFO(line << ": " << to_string(i.diagnostics));
    REQUIRE(i.ok());
    return s.apply(*i);
  }
  void must(const std::string& line) {
    const Result<Done> done = run(line);
    INFO(line << ": " << to_string(done.diagnostics));
    REQUIRE(done.ok());
  }
  void open(const std::string& text) {
    must("open model=" + kModel);
    REQUIRE(s.apply({"text", {{"text", text}}}).ok());
  }
  Json panel(const char* id) const { return to_json(*make_panel(id, s.state())); }
};

// Processes whose parent is this one and that are ranks.
std::set<int> workers() {
  std::set<int> out;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "children");
    for (int pid = 0; in >> pid;) out.insert(pid);
  }
  return out;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a trial keeps the draft, is listed with its version, and its figures stay for later sessions") {
  open(kPipeline);
  must("run steps=2");
  CHECK(s.state().document()->version.has_value());
  CHECK_FALSE(s.state().document()->draft.edited());
  CHECK_FALSE(run("run").ok());  // one at a time
  s.wait();
  const Json row = panel("runs")["rows"][0];
  CHECK(row["status"] == "done");
  CHECK(row["equal"] == true);
  CHECK(row["procs"] == 2);
  CHECK(row["version"] == *s.state().document()->version);
  CHECK(row["max_relative_error"] < 1e-9);
  CHECK(row["predicted_step_us"] > 0);
  CHECK(panel("trial")["rows"].size() == 2);
  must("run");
  s.wait();
  const Json rows = panel("runs")["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["version"] == rows[1]["version"]);
  Session later({.workspace = scratch.file("w"), .cluster = "local"});
  REQUIRE(later.apply(*parse_invocation("open model=" + kModel + " plan=" + std::to_string(*s.state().document()->version))).ok());
  CHECK(to_json(*make_panel("runs", later.state()))["rows"] == rows);
}

TEST_CASE_METHOD(Fixture, "a killed rank is named, and the session goes on") {
  open(kPipeline);
  must("run steps=150");
  const auto running = [&] {
    const auto t = s.state().document()->trial;
    return t && t->phase == "trial" && t->ranks.size() == 2;
  };
  for (int i = 0; i < 3000 && !running(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(running());
  const std::set<int> ranks = workers();
  REQUIRE(ranks.size() == 2);
  ::kill(*ranks.rbegin(), SIGKILL);
  s.wait();
  const Json row = panel("runs")["rows"][0];
  CHECK(row["status"] == "failed");
  CHECK(row["reason"].get<std::string>().find("killed by signal 9") != std::string::npos);
  CHECK(row["equal"].is_null());
  must("append \"# still here\"");
  s.wait();
  CHECK(panel("chips")["verdict"] == "equivalent");
}

TEST_CASE_METHOD(Fixture, "a trial can be cancelled; one that the plan does not fit says why") {
  open(kPipeline);
  must("run steps=150");
  for (int i = 0; i < 3000 && s.state().document()->trial->phase != "trial"; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  must("cancel 1");
  s.wait();
  CHECK(panel("jobs")["rows"][0]["state"] == "cancelled");
  must("run procs=3");
  s.wait();
  CHECK(panel("jobs")["rows"][1]["text"] == "the plan is for 2 devices, not 3");
  CHECK_FALSE(run("run optimizer=lion").ok());
  CHECK_FALSE(run("run steps=0").ok());
}

TEST_CASE_METHOD(Fixture, "what differs between plans sums to the difference of their steps and peaks") {
  open(kPipeline);
  const std::string other = scratch.write("g.plan", "devices 2 as tensor=2\nlet L = transformer.h[*]\nuse tp(L, tensor)\n");
  must("compare " + other);
  s.wait();
  const Json c = panel("compare");
  REQUIRE(c["plans"].size() == 2);
  CHECK(c["plans"][1]["name"] == "g");
  double us = 0, bytes = 0;
  for (const Json& change : c["changes"]) us += change["delta_us"].get<double>(), bytes += change["delta_bytes"].get<double>();
  us += c["unattributed"][0]["delta_us"].get<double>(), bytes += c["unattributed"][0]["delta_bytes"].get<double>();
  CHECK(us == Approx(c["plans"][1]["step_us"].get<double>() - c["plans"][0]["step_us"].get<double>()));
  CHECK(bytes == Approx(c["plans"][1]["peak_bytes"].get<double>() - c["plans"][0]["peak_bytes"].get<double>()).margin(4));
  must("compare run:99");
  s.wait();
  CHECK(panel("compare")["refused"].get<std::string>().find("no run 99") != std::string::npos);
  must("compare run:x " + other);
  s.wait();
  CHECK(panel("jobs")["rows"][2]["state"] == "failed");
}
