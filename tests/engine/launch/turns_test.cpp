#include "engine/launch/turns.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "engine/base/temporary_folder.h"
#include "engine/launch/trial_job.h"

using namespace planscope;

namespace {

struct Pipes {
  TemporaryFolder folder{"turns"};
  Pipes() {
    REQUIRE(folder);
    for (const std::string& path : {ours(), theirs()}) REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  }
  std::string ours() const { return folder / "ours"; }
  std::string theirs() const { return folder / "theirs"; }
};

bool never() { return false; }
bool at_once() { return true; }

}  // namespace

TEST_CASE("two programs work in turn", "[turns]") {
  const Pipes pipes;
  Result<Turns> first = Turns::open(pipes.theirs(), pipes.ours());
  REQUIRE(first.ok());
  first->give();
  constexpr int turns = 50;
  std::vector<int> order;  // whoever has the token may write
  const auto work = [&](int who, const std::string& from, const std::string& to) {
    Result<Turns> mine = Turns::open(from, to);
    for (int i = 0; mine.ok() && i < turns && mine->take(never); ++i) {
      order.push_back(who);
      mine->give();
    }
  };
  std::thread other([&] { work(2, pipes.theirs(), pipes.ours()); });
  work(1, pipes.ours(), pipes.theirs());
  other.join();
  REQUIRE(order.size() == 2 * turns);
  for (std::size_t i = 0; i < order.size(); ++i) REQUIRE(order[i] == (i % 2 == 0 ? 1 : 2));
}

TEST_CASE("who waits for a turn can be stopped", "[turns]") {
  const Pipes pipes;
  Result<Turns> turns = Turns::open(pipes.ours(), pipes.theirs());
  REQUIRE(turns.ok());
  int asked = 0;
  CHECK_FALSE(turns->take([&] { return ++asked > 2; }));
  turns->give();                      // to the other one, not to ourselves
  CHECK_FALSE(turns->take(at_once));  // even with the token there, who is stopped does not take it
  CHECK_FALSE(turns->take([&] { return ++asked > 4; }));
}

TEST_CASE("pipes that are not there are told", "[turns]") {
  const Pipes pipes;
  for (const auto& [from, to] : {std::pair{pipes.folder / "no", pipes.theirs()}, {pipes.ours(), pipes.folder / "no"}}) {
    const Result<Turns> r = Turns::open(from, to);
    REQUIRE_FALSE(r.ok());
    CHECK(to_string(r.diagnostics).find("cannot open '" + pipes.folder / "no" + "'") == 0);
  }
}

TEST_CASE("jobs and reports survive printing and reading", "[trial]") {
  TrialJob job;
  job.model = "m.pt2";
  job.steps = 3;
  job.turn_from = "/tmp/a";
  job.turn_to = "/tmp/b";
  CHECK(*parse_trial_job(print(job)) == job);
  RankReport report;
  report.steps = {{1.5}, {2}};
  report.cpu = {{3}, {4.25}};
  report.peak = {123};
  report.resident = {4567};
  const Result<RankReport> read = parse_rank_report(print(report));
  REQUIRE(read.ok());
  CHECK(print(*read) == print(report));
  CHECK(read->cpu == report.cpu);
  CHECK(read->resident == report.resident);
}
