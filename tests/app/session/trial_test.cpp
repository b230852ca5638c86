// Trials and comparison as jobs of a session.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "app/session/comparing.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "tests/app/session/guide.h"
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
  const Json ended = panel("trial");
  for (const Json& rank : ended["rows"]) {  // it has ended: no rank is anywhere in its steps
    CHECK(rank["at"].is_null());
    CHECK((rank["step"].is_null() || rank["step"] == "5 of 5"));  // two in float64, one to warm up, two that are measured
  }
  must("run");
  s.wait();
  const Json rows = panel("runs")["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["version"] == rows[1]["version"]);
  Session later({.workspace = scratch.file("w"), .cluster = "local"});
  REQUIRE(later.apply(*parse_invocation("open model=" + kModel + " plan=" + std::to_string(*s.state().document()->version))).ok());
  CHECK(to_json(*make_panel("runs", later.state()))["rows"] == rows);
}

// Ranks that others start, with the environment that their launchers give.
TEST_CASE_METHOD(Fixture, "a trial that is refused has neither figures nor the sign of the one before") {
  open(kPipeline);
  must("run");
  s.wait();
  const auto fact = [&](const char* id) {
    const Panel p = *make_panel("trial", s.state());
    const auto found = std::find_if(p.facts.begin(), p.facts.end(), [&](const Fact& f) { return f.id == id; });
    return found == p.facts.end() ? std::optional<Cell>() : std::optional(found->cell);
  };
  CHECK(fact("outcome")->tone == Tone::good);
  CHECK(fact("step_us"));
  must("run procs=3");
  s.wait();
  CHECK(fact("outcome")->text == "the plan is for 2 devices, not 3");
  CHECK(fact("outcome")->tone == Tone::bad);
  CHECK_FALSE(fact("step_us"));
  CHECK(panel("trial")["rows"].empty());
  CHECK(panel("runs")["rows"].size() == 1);
}

TEST_CASE_METHOD(Fixture, "ranks of another launcher join the trial of a session at the address that it says") {
  open(kPipeline);
  CHECK_FALSE(run("run address=localhost").ok());  // nobody would ask for it
  const std::string file = scratch.file("trial.join"), worker = PLANSCOPE_BIN_DIR "/planscope-worker";
  must("run join=" + file + " address=localhost");
  for (int i = 0; i < 3000 && !std::filesystem::exists(file); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(scratch.read("trial.join").find("localhost") != std::string::npos);
  std::vector<pid_t> ranks;
  for (std::vector<const char*> variables : {std::vector<const char*>{"RANK=0", "WORLD_SIZE=2", nullptr},
                                            std::vector<const char*>{"SLURM_PROCID=1", "SLURM_NTASKS=2", nullptr}}) {
    char* const arguments[] = {const_cast<char*>(worker.c_str()), const_cast<char*>("--join"), const_cast<char*>(file.c_str()), nullptr};
    pid_t pid = 0;
    REQUIRE(::posix_spawn(&pid, worker.c_str(), nullptr, nullptr, arguments, const_cast<char* const*>(variables.data())) == 0);
    ranks.push_back(pid);
  }
  s.wait();
  for (const pid_t pid : ranks) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  const Json row = panel("runs")["rows"][0];
  CHECK(row["status"] == "done");
  CHECK(row["equal"] == true);
}

TEST_CASE_METHOD(Fixture, "a rank that is killed or hangs is named, with where it was, and the session goes on") {
  open(kPipeline);
  int run = 0;
  for (const int signal : {SIGKILL, SIGSTOP}) {
    must("run steps=150");
    const auto running = [&] {
      const auto t = s.state().document()->trial;
      return t && t->phase == "trial" && t->ranks.size() == 2;
    };
    for (int i = 0; i < 3000 && !running(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE(running());
    const std::set<int> ranks = workers();
    REQUIRE(ranks.size() == 2);
    ::kill(*ranks.rbegin(), signal);
    s.wait();
    const Json row = panel("runs")["rows"][run++];
    CHECK(row["status"] == "failed");
    const std::string reason = row["reason"];
    INFO(reason);
    CHECK(reason.starts_with("rank "));
    if (signal == SIGKILL) CHECK(reason.find("killed by signal 9") != std::string::npos);
    CHECK(row["equal"].is_null());
    CHECK(workers().empty());  // the others are ended too
    CHECK(panel("measured")["rows"].empty());
    must("compare run:" + std::to_string(run));
    s.wait();
    CHECK(to_text(*make_panel("compare", s.state())).find("has measured no step") != std::string::npos);
  }
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

TEST_CASE_METHOD(Fixture, "a trial says in which step a rank is, and how long the rest takes") {
  open(kPipeline);
  must("run steps=150");
  const auto job = [&] { return panel("jobs")["rows"][0]; };
  const auto is_estimated = [&] { return s.state().document()->trial->phase == "trial" && panel("trial").contains("remaining_us"); };
  for (int i = 0; i < 3000 && !is_estimated(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(is_estimated());  // 150 steps in float64, one to warm up, 150 that are measured
  const std::string text = job()["text"];
  INFO(text);
  CHECK(text.starts_with("rank "));
  CHECK(text.find(", step ") < text.find(" of 301: "));
  CHECK(job()["done"] > 0);
  CHECK(panel("trial")["rows"][0]["step"].get<std::string>().ends_with(" of 301"));
  must("cancel 1");
  s.wait();
  CHECK(job()["remaining_us"].is_null());
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

TEST_CASE_METHOD(Fixture, "what a run has measured stands beside what was predicted, as rows that sum and as a ghost") {
  open(kPipeline);
  must("run steps=3 seed=7 optimizer=sgd");
  s.wait();
  const Json m = panel("measured");
  const Json run = panel("runs")["rows"][0];
  CHECK(run["seed"] == 7);
  CHECK(run["optimizer"] == "sgd");
  CHECK(run["steps"] == 3);
  CHECK(m["measured_step_us"] == run["step_us"]);
  CHECK(m["predicted_step_us"] == run["predicted_step_us"]);
  std::map<int, double> measured, predicted;
  std::set<std::string> levels;
  for (const Json& row : m["rows"]) {
    levels.insert(row["by"]);
    if (row["parent"].is_null()) continue;
    measured[row["parent"]] += row["measured_us"].get<double>();
    if (!row["predicted_us"].is_null()) predicted[row["parent"]] += row["predicted_us"].get<double>();
  }
  CHECK(levels == std::set<std::string>{"step", "class", "part", "task", "operators"});
  for (const auto& [parent, sum] : measured) {
    const Json& row = m["rows"][static_cast<std::size_t>(parent)];
    if (row["by"] == "step") continue;  // every class takes the whole of it
    CHECK(sum == Approx(row["measured_us"].get<double>()).margin(0.01));
    CHECK(predicted[parent] == Approx(row["predicted_us"].get<double>()).margin(0.01));
  }
  must("compare run:1");
  s.wait();
  const Json beside = panel("beside");  // the column of a run sums to its step
  std::map<std::string, double> of_run;
  for (const Json& row : beside["rows"])
    if (row["plan_1"].is_number()) of_run[row["part"]] = row["plan_1"];
  CHECK(of_run["compute"] + of_run["waiting"] + of_run["between"] == Approx(of_run["step"]));
  CHECK(of_run["between"] > 0);
  State state = s.state();
  const viz::TimelineModel over = compared_timelines(*state.document()->comparison, "time", "runs");
  CHECK(viz::first_problem(over).empty());
  REQUIRE(over.lanes.size() == 2);
  CHECK(over.lanes[0].streams[1].name == "run:1");
  CHECK_FALSE(over.lanes[0].streams[1].blocks.empty());
  const viz::TimelineModel apart = compared_timelines(*state.document()->comparison, "task", "none");
  CHECK(viz::first_problem(apart).empty());
  CHECK(apart.lanes.size() == 4);
  must("export compare " + scratch.file("c.html"));
  const std::string page = *read_file(scratch.file("c.html")).value;
  for (const char* part : {"<svg", "run:1", "idle: warm-up", "Predicted and measured", "</html>"})
    CHECK(page.find(part) != std::string::npos);
  CHECK(page.find("http") == page.find("http://www.w3.org"));  // nothing is fetched
}

TEST_CASE_METHOD(Fixture, "what is profiled makes predictions measured, and it can be cancelled") {
  open("devices 1\n");
  s.wait();
  CHECK(panel("chips")["origin"] == "modelled");
  const double modelled = panel("chips")["step_us"];
  must("profile");
  must("cancel 1");
  s.wait();
  CHECK(panel("jobs")["rows"][0]["state"] == "cancelled");
  must("profile");
  s.wait();
  CHECK(panel("jobs")["rows"][1]["state"] == "done");
  const Json chips = panel("chips");
  CHECK(chips["origin"] == "measured");
  CHECK(chips["step_us"] != modelled);
  CHECK(chips["current"] == true);
  const Json profile = panel("profile");
  CHECK(profile["measured"].get<int>() + profile["reused"].get<int>() > 0);
  int known = 0;
  for (const Json& row : profile["rows"]) known += row["measured_us"].is_number();
  CHECK(known > 10);
  must("cluster dgx-h100x1");
  must("profile");
  s.wait();
  CHECK(panel("jobs")["rows"][2]["state"] == "failed");
  CHECK(panel("chips")["origin"] == "modelled");  // of another device
}

TEST_CASE("the guide's chapter on trials runs to its end") {
  const testing::Chapter c("trial", PLANSCOPE_BIN_DIR);
  INFO(to_string(c.refused));
  CHECK_FALSE(c.bad);
  CHECK(c.refused.empty());
  REQUIRE(c.shown.size() == 3);
  CHECK(c.shown[0].find("equal") != std::string::npos);
  CHECK(c.shown[1].find("between instructions") != std::string::npos);
  CHECK(c.scratch.read("trial.svg").find("</svg>") != std::string::npos);
}

TEST_CASE("write the picture of the guide's chapter on trials", "[.][write-guide]") {
  const testing::Chapter c("trial", PLANSCOPE_BIN_DIR);
  std::ofstream("docs/guide/trial.svg", std::ios::binary) << c.scratch.read("trial.svg");
}
