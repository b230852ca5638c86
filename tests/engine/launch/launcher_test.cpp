// Trials of real processes that behave well and badly.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "engine/launch/launcher.h"

using namespace planscope;
using namespace std::chrono_literals;

namespace {

const char* const program = PLANSCOPE_BIN_DIR "/planscope-test-rank";

// Of a process that is there and not a zombie.
bool is_running(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return false;
  const std::size_t name_end = line.rfind(')');
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

pid_t pid_in(const std::string& report) { return report.starts_with("{\"pid\":") ? std::stoi(report.substr(7)) : 0; }

struct Outcome {
  LaunchResult result;
  std::map<int, std::vector<std::string>> reports;
  std::set<pid_t> pids;
};

Outcome run(const std::string& job, int ranks = 3, LaunchSpec spec = {}, const std::atomic<bool>& stop = false) {
  Outcome o;
  spec.program = program;
  if (spec.arguments.empty()) spec.arguments = {"normal"};
  spec.ranks = ranks;
  spec.job = job;
  LaunchEvents events;
  events.on_report = [&](int rank, const std::string& json) {
    if (pid_in(json) > 0)
      o.pids.insert(pid_in(json));
    else
      o.reports[rank].push_back(json);
  };
  PosixProcesses processes;
  const SystemClock clock;
  o.result = launch(spec, events, stop, processes, clock);
  for (const pid_t pid : o.pids) CHECK_FALSE(is_running(pid));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // nothing is left to reap
  return o;
}

void check_failure(const Outcome& o, int rank, std::int64_t instruction, const std::string& reason) {
  CHECK(o.result.status == LaunchStatus::failed);
  REQUIRE(o.result.failure.has_value());
  CHECK(o.result.failure->rank == rank);
  CHECK(o.result.failure->instruction == instruction);
  CHECK(o.result.failure->reason == reason);
}

}  // namespace

TEST_CASE("an orderly trial is done and reports arrive", "[launch]") {
  const Outcome o = run("orderly", 4, {.program = {}, .cores = {0}});
  CHECK(o.result.status == LaunchStatus::done);
  CHECK_FALSE(o.result.failure.has_value());
  CHECK(o.result.oversubscribed);
  CHECK(o.pids.size() == 4);
  for (int r = 0; r < 4; ++r) {
    CHECK(o.reports.at(r) == std::vector<std::string>{"{\"rank\":" + std::to_string(r) + ",\"threads\":1}"});
    CHECK(o.result.ranks[static_cast<std::size_t>(r)].how == clean_exit);
  }
}

TEST_CASE("a killed rank is named with its instruction", "[launch]") {
  check_failure(run("crash 1"), 1, 5, "killed by signal 9 (Killed) in linear");
}

TEST_CASE("a rank that exits is named with what it wrote", "[launch]") {
  check_failure(run("exit 2"), 2, 5, "exited with status 3 in linear; it wrote: first line | out of luck");
}

TEST_CASE("a rank that exits with status 0 before it is done has failed", "[launch]") {
  check_failure(run("early 0"), 0, 5, "exited before its work was done in linear");
}

TEST_CASE("a stopped rank is silent", "[launch]") {
  const Outcome o = run("silent 1");
  check_failure(o, 1, 5, "no sign of life for 3 s, last seen in linear");
}

TEST_CASE("ranks that wait for each other are a deadlock", "[launch]") {
  const Outcome o = run("deadlock", 2);
  REQUIRE(o.result.failure.has_value());
  check_failure(o, o.result.failure->rank, 5,  // the one that has waited longest: either
                "all live ranks have waited without progress for 3 s (rank 0 at instruction 5: recv from 1; rank 1 at "
                "instruction 5: all_reduce wte)");
}

TEST_CASE("the cause is named even if others notice it first", "[launch]") {
  check_failure(run("shape 1"), 1, 5, "all_reduce wte: this rank has [4, 8], rank 0 has [4, 9]");
}

TEST_CASE("ranks that disagree have failed even if they are done", "[launch]") {
  const Outcome o = run("disagree", 2);
  CHECK(o.result.status == LaunchStatus::failed);
  REQUIRE(o.result.failure.has_value());
  CHECK(o.result.failure->reason.starts_with("all_reduce wte: this rank has float32 ["));
}

TEST_CASE("nonsense on the channel ends the trial", "[launch]") {
  const Outcome o = run("nonsense 1");
  REQUIRE(o.result.failure.has_value());
  CHECK(o.result.failure->rank == 1);
  CHECK(o.result.failure->reason.find("on the control channel") != std::string::npos);
}

TEST_CASE("a slow operator and a long transfer do not end a trial", "[launch]") {
  LaunchSpec hasty;
  hasty.limits.deadlock = {1.4e6};  // the others wait for longer, 1.5 s for rank 1 and then 0.1 s
  CHECK(run("slow 1", 3, hasty).result.status == LaunchStatus::done);
  CHECK(run("transfer 1", 3, hasty).result.status == LaunchStatus::done);
}

TEST_CASE("a rank that never connects is told", "[launch]") {
  LaunchSpec hasty;
  hasty.arguments = {"never-connects"};
  hasty.limits.start = {0.5e6};
  check_failure(run("orderly", 2, hasty), 0, -1, "did not start within 0.5 s, before it told where it is");
}

TEST_CASE("a rank that is stopped before it connects is silent, and named", "[launch]") {
  LaunchSpec spec;
  spec.arguments = {"stopped-first"};
  check_failure(run("meet", 1, spec), 0, -1, "no sign of life for 3 s, before it told where it is");
}

TEST_CASE("a program that is not there is told", "[launch]") {
  PosixProcesses processes;
  const LaunchResult r =
      launch({.program = "/no/such/worker", .ranks = 2}, {}, std::atomic<bool>(false), processes, SystemClock());
  CHECK(r.status == LaunchStatus::failed);
  CHECK(r.failure == LaunchFailure{0, -1, "cannot start '/no/such/worker'; No such file or directory"});
}

TEST_CASE("the stop flag ends a trial cleanly, or by force", "[launch]") {
  std::atomic<bool> stop{false};
  std::thread later([&] {
    std::this_thread::sleep_for(300ms);
    stop = true;
  });
  const Outcome polite = run("stop", 2, {}, stop);
  later.join();
  CHECK(polite.result.status == LaunchStatus::interrupted);
  CHECK(polite.reports.size() == 2);
  CHECK(polite.result.ranks[0].how == clean_exit);
  const Position& last = polite.result.ranks[0].last;
  CHECK(std::tuple(last.step, last.steps, last.instructions) == std::tuple(2, 5, 100));

  LaunchSpec impatient;
  impatient.stop_limit = {0.3e6};
  const Outcome stubborn = run("stubborn", 2, impatient, stop);
  CHECK(stubborn.result.status == LaunchStatus::interrupted);
  CHECK(stubborn.result.ranks[0].how == "killed by signal 9 (Killed)");
}

TEST_CASE("a rank that is done but does not end is killed and counts as done", "[launch]") {
  LaunchSpec impatient;
  impatient.exit_limit = {0.3e6};
  const Outcome o = run("lingering", 2, impatient);
  CHECK(o.result.status == LaunchStatus::done);
}

TEST_CASE("megabytes of output and reports neither block nor get lost", "[launch]") {
  const Outcome o = run("chatty", 2);
  CHECK(o.result.status == LaunchStatus::done);
  for (const RankEnd& end : o.result.ranks) {
    CHECK(end.output_tail.ends_with("last words"));
    CHECK(end.output_tail.size() == 4096);
    CHECK(end.error_tail.size() == 4096);
  }
  CHECK(o.reports.at(1).at(0).size() == (20u << 20) + 2);
}

TEST_CASE("ranks share values through the store", "[launch]") {
  const Outcome o = run("meet", 3);
  CHECK(o.result.status == LaunchStatus::done);
  std::set<std::string> sums;
  for (const auto& [rank, reports] : o.reports) {
    CHECK(reports.at(0).starts_with("{\"met\":\"012\",\"sum\":"));
    CHECK(reports.at(0).ends_with("\"missing\":1}"));
    sums.insert(reports.at(0));
  }
  CHECK(sums.size() == 3);  // each addition saw the one before
}

TEST_CASE("trials side by side do not meet", "[launch]") {
  std::vector<LaunchResult> results(3);
  std::vector<std::thread> threads;
  for (LaunchResult& r : results) {
    threads.emplace_back([&r] {
      PosixProcesses processes;
      r = launch({.program = program, .arguments = {"normal"}, .ranks = 3, .job = "meet"}, {}, std::atomic<bool>(false),
                 processes, SystemClock());
    });
  }
  for (std::thread& t : threads) t.join();
  for (const LaunchResult& r : results) CHECK(r.status == LaunchStatus::done);
}

TEST_CASE("no rank outlives a launcher that is killed", "[launch]") {
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    LaunchEvents events;
    events.on_report = [&](int, const std::string& json) {
      const pid_t pid = pid_in(json);
      [[maybe_unused]] const ssize_t n = ::write(channel[1], &pid, sizeof pid);
    };
    PosixProcesses processes;
    launch({.program = program, .arguments = {"normal"}, .ranks = 3, .job = "stubborn"}, events,
           std::atomic<bool>(false), processes, SystemClock());
    _exit(0);
  }
  close(channel[1]);
  std::vector<pid_t> ranks(3);
  for (pid_t& pid : ranks) {
    REQUIRE(::read(channel[0], &pid, sizeof pid) == sizeof pid);
    CHECK(is_running(pid));
  }
  kill(launcher, SIGKILL);
  REQUIRE(waitpid(launcher, nullptr, 0) == launcher);
  close(channel[0]);
  for (int i = 0; i < 100 && std::any_of(ranks.begin(), ranks.end(), is_running); ++i)
    std::this_thread::sleep_for(20ms);
  for (const pid_t pid : ranks) CHECK_FALSE(is_running(pid));
}

TEST_CASE("a callback that throws leaves no rank behind", "[launch]") {
  std::vector<pid_t> pids;
  LaunchEvents events;
  events.on_report = [&](int, const std::string& json) {
    pids.push_back(pid_in(json));
    throw std::runtime_error("a bug of the caller");
  };
  PosixProcesses processes;
  CHECK_THROWS(launch({.program = program, .arguments = {"normal"}, .ranks = 2, .job = "stubborn"}, events,
                      std::atomic<bool>(false), processes, SystemClock()));
  REQUIRE(pids.size() == 1);
  CHECK_FALSE(is_running(pids[0]));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}
