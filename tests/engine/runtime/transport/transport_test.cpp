// Four processes that communicate, well and badly.
#include <catch2/catch.hpp>
#include <map>
#include <thread>

#include "engine/launch/launcher.h"

using namespace planscope;

namespace {

struct Outcome {
  LaunchResult result;
  std::map<int, std::string> reports;
  double seconds = 0;
};

Outcome run(const std::string& job) {
  Outcome o;
  LaunchSpec spec;
  spec.program = PLANSCOPE_BIN_DIR "/planscope-test-transport";
  spec.ranks = 4;
  spec.job = job;
  LaunchEvents events;
  events.on_report = [&](int rank, const std::string& json) { o.reports[rank] = json; };
  PosixProcesses processes;
  const SystemClock clock;
  const std::int64_t begin = clock.steady_us();
  o.result = launch(spec, events, std::atomic<bool>(false), processes, clock);
  o.seconds = static_cast<double>(clock.steady_us() - begin) / 1e6;
  return o;
}

void check_values(const Outcome& o, int checks_of_rank_3) {
  INFO((o.result.failure ? o.result.failure->reason : ""));
  CHECK(o.result.status == LaunchStatus::done);
  for (const RankEnd& end : o.result.ranks) CHECK(end.error_tail == "");
  REQUIRE(o.reports.size() == 4);
  for (const auto& [rank, json] : o.reports) CHECK(json.ends_with("\"wrong\":0}"));
  CHECK(o.reports.at(3) == "{\"checks\":" + std::to_string(checks_of_rank_3) + ",\"wrong\":0}");
}

void check_failure(const Outcome& o, int rank, const std::string& beginning) {
  CHECK(o.result.status == LaunchStatus::failed);
  REQUIRE(o.result.failure.has_value());
  CHECK(o.result.failure->rank == rank);
  CHECK(o.result.failure->instruction == 41);
  INFO(o.result.failure->reason);
  CHECK(o.result.failure->reason.starts_with(beginning));
  CHECK(o.seconds <
        20);  // with the time to start, which a busy machine stretches; launcher_test measures the end alone
}

}  // namespace

TEST_CASE("collectives, sub-groups and tags give the computed values", "[transport]") {
  // 7 collectives x 4 groups x 3 types, the uneven exchange, 3 tags, 3 odd tensors
  check_values(run("values"), 7 * 4 * 3 + 1 + 3 + 3);
}

TEST_CASE("several transfers may be under way", "[transport]") { check_values(run("overlap"), 2); }

TEST_CASE("ranks that disagree on a shape or a kind are named", "[transport]") {
  const Outcome shape = run("shape");
  REQUIRE(shape.result.failure.has_value());
  const std::string reason = shape.result.failure->reason;
  INFO(reason);
  CHECK(reason.starts_with("all_reduce wte: this rank has all_reduce sum of Float ["));
  CHECK(reason.find("Float [5]") != std::string::npos);
  CHECK(reason.find("Float [4]") != std::string::npos);
  CHECK(shape.result.failure->instruction == 41);
  CHECK(shape.seconds < 20);

  const Outcome kind = run("kind");
  REQUIRE(kind.result.failure.has_value());
  CHECK(kind.result.failure->reason.find("reduce_scatter sum of Float [4]") != std::string::npos);
}

TEST_CASE("a killed rank is the cause, not those that lose their connection", "[transport]") {
  check_failure(run("killed"), 2, "killed by signal 9 (Killed) in linear");
}

TEST_CASE("receives that nobody answers are a deadlock", "[transport]") {
  const Outcome o = run("deadlock");
  REQUIRE(o.result.failure.has_value());
  check_failure(o, o.result.failure->rank,
                "all live ranks have waited without progress for 3 s (rank 0 at instruction 41: receive x; rank 1 at");
}

TEST_CASE("a tensor that cannot be sent is this rank's own failure", "[transport]") {
  check_failure(run("own"), 0, "all_reduce wte: impossible: Float [4, 4] is not contiguous on the CPU");
}

TEST_CASE("trials side by side do not clash", "[transport]") {
  std::vector<Outcome> outcomes(2);
  std::vector<std::thread> threads;
  for (Outcome& o : outcomes) threads.emplace_back([&o] { o = run("overlap"); });
  for (std::thread& t : threads) t.join();
  for (const Outcome& o : outcomes) check_values(o, 2);
}
