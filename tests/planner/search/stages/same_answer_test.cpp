// What decides an answer is counted in work: on a machine on which everything takes longer the answer is the same, as long as the
// user's own limit is not over.
#include <atomic>
#include <catch2/catch.hpp>

#include "planner/search/stages/stages.h"
#include "tests/planner/search/stages/samples.h"

using namespace planscope;
using namespace planscope::stages;
using planscope::testing::cluster;
using planscope::testing::rows;
using planscope::testing::sample;

namespace {

// So many seconds have passed whenever somebody looks.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(double seconds) : step_us_(static_cast<std::int64_t>(seconds * 1e6)) {}
  std::int64_t wall_us() const override { return steady_us(); }
  std::int64_t steady_us() const override { return now_us_ += step_us_; }

 private:
  const std::int64_t step_us_;
  mutable std::atomic<std::int64_t> now_us_ = 0;
};

// All that is told.
std::string told(const Found& f) {
  std::string out = std::to_string(static_cast<int>(f.outcome)) + " " + f.reason + " bound " +
                    std::to_string(f.lower_bound_us) + " points " + std::to_string(f.points) + " made " +
                    std::to_string(f.simulated) + "\n";
  for (const Candidate& c : f.best)
    out += c.configuration.name() + " " + std::to_string(c.step_us) + " " + std::to_string(c.bound_us) + "\n" + c.script;
  for (const constraint::ConflictLines& conflict : f.conflicts)
    for (const constraint::ConflictLine& l : conflict.lines) {
      out += std::to_string(l.line.line) + " " + std::to_string(static_cast<int>(l.without.possible));
      if (l.needs) out += " needs " + std::to_string(l.needs->bytes) + " " + l.needs->where;
      if (l.without.bytes) out += " bytes " + std::to_string(*l.without.bytes);
      if (l.without.optimum)
        out += " step " + std::to_string(l.without.optimum->step_us) + " bound " +
               std::to_string(l.without.optimum->lower_bound_us);
      out += "\n";
    }
  return out;
}

}  // namespace

TEST_CASE("the answer is the same however fast the machine is", "[slow]") {
  const auto [name, batch, text] = GENERATE(table<std::string, int, std::string>(
      {{"gpt2_tiny", 32, ""},
       {"mixtral_tiny", 16, ""},
       {"t5_tiny", 8, ""},
       {"llama_tiny", 32, "require memory(all) <= 700KiB\n"},
       {"llama_tiny", 32, "require |tensor| >= 4\nrequire |data| >= 4\nrequire |pipe| >= 2\n"},
       {"gpt2_tiny", 16, "require memory(all) <= 150KiB\nforbid trans * recompute\nrequire |data| >= 2\n"}}));
  const Graph graph = sample(name);
  const Cluster c = cluster("dgx-a100x1");
  Settings s{.global_batch = batch, .seconds = 1e6};
  s.rows = rows(text);
  const Result<Found> quick = search(graph, c, s);
  REQUIRE(quick.ok());
  CHECK(!quick->ended_early);
  const SlowClock slow(0.01);
  s.clock = &slow;
  const Result<Found> slowly = search(graph, c, s);
  REQUIRE(slowly.ok());
  CHECK(!slowly->ended_early);
  CHECK(told(*slowly) == told(*quick));
}
