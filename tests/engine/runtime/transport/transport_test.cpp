// Processes that communicate, well and badly, over each transport.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <thread>

#include "engine/launch/launcher.h"

using namespace planscope;

namespace {

struct Outcome {
  LaunchResult result;
  std::map<int, std::string> reports;
};

Outcome run(const std::string& job, int ranks = 4) {
  Outcome o;
  LaunchSpec spec;
  spec.program = PLANSCOPE_BIN_DIR "/planscope-test-transport";
  spec.ranks = ranks;
  spec.job = job;
  LaunchEvents events;
  events.on_report = [&](int rank, const std::string& json) { o.reports[rank] = json; };
  PosixProcesses processes;
  const SystemClock clock;
  o.result = launch(spec, events, std::atomic<bool>(false), processes, clock);
  return o;
}

// Ran to the end, and no value was wrong.
void check_right(const Outcome& o) {
  INFO((o.result.failure ? o.result.failure->reason : ""));
  CHECK(o.result.status == LaunchStatus::done);
  for (const RankEnd& end : o.result.ranks) CHECK(end.error_tail == "");
  REQUIRE(o.reports.size() == o.result.ranks.size());
  for (const auto& [rank, json] : o.reports) CHECK(json.ends_with("\"wrong\":0}"));
}

void check_values(const Outcome& o, int checks_of_rank_3) {
  check_right(o);
  CHECK(o.reports.at(3).find("\"checks\":" + std::to_string(checks_of_rank_3) + ",") != std::string::npos);
}

void check_failure(const Outcome& o, int rank, const std::string& beginning) {
  CHECK(o.result.status == LaunchStatus::failed);
  REQUIRE(o.result.failure.has_value());
  INFO(o.result.failure->reason);
  CHECK(o.result.failure->rank == rank);
  CHECK(o.result.failure->instruction == 41);
  CHECK(o.result.failure->reason.starts_with(beginning));
}

const std::string transports[] = {"gloo ", "shm "};

}  // namespace

TEST_CASE("collectives, sub-groups and tags give the computed values", "[transport]") {
  // 7 collectives x 4 groups x 3 types, the uneven exchange, 3 tags, 3 odd tensors and 4 sums of complex numbers
  for (const std::string& t : transports) check_values(run(t + "values"), 7 * 4 * 3 + 1 + 3 + 3 + 4);
}

TEST_CASE("several transfers may be under way", "[transport]") {
  for (const std::string& t : transports) check_values(run(t + "overlap"), 2);
}

TEST_CASE("random traffic over shared memory gives the bits of a plain computation in the order of ranks",
          "[transport]") {
  const auto ranks = GENERATE(1, 2, 3, 4, 5);
  const auto seed = GENERATE(1, 2, 3);
  CAPTURE(ranks, seed);
  check_right(run("shm random " + std::to_string(10 * ranks + seed), ranks));
}

TEST_CASE("eight ranks on few cores get through", "[transport]") { check_right(run("shm random 99", 8)); }

TEST_CASE("more messages under way than there is room for announcements", "[transport]") {
  check_values(run("shm ahead"), 4);
}

TEST_CASE("what is scattered is the others' when the issue is over", "[transport]") {
  check_values(run("shm handed-over"), 2);
}

TEST_CASE("not-a-numbers stay, infinities compare", "[transport]") { check_values(run("shm nan"), 4); }

TEST_CASE("a rank that waits leaves its core to others", "[transport]") { check_values(run("shm idle"), 1); }

TEST_CASE("ranks that disagree on a shape or a kind are named", "[transport]") {
  for (const std::string& t : transports) {
    CAPTURE(t);
    const Outcome shape = run(t + "shape");
    REQUIRE(shape.result.failure.has_value());
    const std::string reason = shape.result.failure->reason;
    INFO(reason);
    CHECK(reason.starts_with("all_reduce wte: this rank has all_reduce sum of Float ["));
    CHECK(reason.find("Float [5]") != std::string::npos);
    CHECK(reason.find("Float [4]") != std::string::npos);
    CHECK(shape.result.failure->instruction == 41);

    const Outcome kind = run(t + "kind");
    REQUIRE(kind.result.failure.has_value());
    CHECK(kind.result.failure->reason.find("reduce_scatter sum of Float [4]") != std::string::npos);
  }
}

TEST_CASE("sender and receiver that disagree are named", "[transport]") {
  check_failure(run("shm transfer"), 0, "receive x: this rank has Float [4, 3], rank 2 has Float [4, 2]");
  check_failure(run("shm blocks"), 0, "all_to_all tokens: this rank has room for 8 bytes, rank 2 has 12 for it");
}

TEST_CASE("a killed rank is the cause, not those that lose their connection", "[transport]") {
  for (const std::string& t : transports) check_failure(run(t + "killed"), 2, "killed by signal 9 (Killed) in linear");
}

TEST_CASE("a rank that is killed or stopped in the middle of a transfer is the cause", "[transport]") {
  const auto names = [] {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      if (const std::string name = entry.path().filename(); name.find("planscope") != std::string::npos)
        out.push_back(name);
    }
    return out;
  };
  check_failure(run("shm killed-in-the-middle"), 2, "killed by signal 9 (Killed) in ");
  check_failure(run("shm stopped-in-the-middle"), 2, "no sign of life for 3 s, last seen in ");
  CHECK(names().empty());
}

TEST_CASE("a rank that gives up is the cause", "[transport]") { check_failure(run("shm leaves"), 2, "had enough"); }

TEST_CASE("a rank that writes to a peer that has gone is not killed for it", "[transport]") {
  check_right(run("gloo broken-pipe"));
}

TEST_CASE("receives that nobody answers are a deadlock", "[transport]") {
  for (const std::string& t : transports) {
    const Outcome o = run(t + "deadlock");
    REQUIRE(o.result.failure.has_value());
    check_failure(
        o, o.result.failure->rank,
        "all live ranks have waited without progress for 3 s (rank 0 at instruction 41: receive x; rank 1 at");
  }
}

TEST_CASE("a message that nobody takes is a deadlock", "[transport]") {
  const Outcome o = run("shm unheard");
  REQUIRE(o.result.failure.has_value());
  check_failure(o, o.result.failure->rank,
                "all live ranks have waited without progress for 3 s (rank 0 at instruction 41: send x; rank 1 at");
}

TEST_CASE("a tensor that cannot be sent is this rank's own failure", "[transport]") {
  for (const std::string& t : transports)
    check_failure(run(t + "own"), 0, "all_reduce wte: impossible: Float [4, 4] is not contiguous on the CPU");
}

TEST_CASE("trials side by side do not clash", "[transport]") {
  std::vector<Outcome> outcomes(3);
  std::vector<std::thread> threads;
  for (Outcome& o : outcomes) threads.emplace_back([&o] { o = run("shm overlap"); });
  for (std::thread& t : threads) t.join();
  for (const Outcome& o : outcomes) check_values(o, 2);
}

TEST_CASE("ranks of one host share memory; if one of them cannot, all use Gloo and say why", "[transport]") {
  const Outcome shared = run("any overlap");
  check_values(shared, 2);
  for (const auto& [rank, json] : shared.reports) CHECK(json.starts_with("{\"transport\":\"shared memory\""));

  const Outcome limited = run("limited overlap");
  check_values(limited, 2);
  for (const auto& [rank, json] : limited.reports) {
    INFO(json);
    CHECK(json.starts_with("{\"transport\":\"Gloo: rank 2: mmap of "));
  }
}
