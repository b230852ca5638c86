// Random graphs and random plans: what verify calls equivalent is equal in numbers to the one-device run; what reads old
// parameters it calls relaxed, and that is equal to the one-device run with delayed gradients. The
// simulator runs it in the order of the executor. A Program made with a cache is to the byte that made without one. A
// plan is either carried out or refused with a reason, never materialized to something that verify refutes.
//
//   PLANSCOPE_PLANS=FIRST:COUNT planscope_property_test      more of them
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "engine/base/temporary_folder.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"
#include "planner/simulate/alive.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"
#include "tests/property/random_case.h"
#include "tests/property/run_on_threads.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

struct Outcome {
  enum class Kind {
    equal,
    refused,
    refuted,
    not_simulated,
    not_run,
    different,
    other_order,
    other_memory,
    cached
  } kind = Kind::equal;
  std::string what;
  bool good() const { return kind == Kind::equal || kind == Kind::refused; }
};

const char* name(Outcome::Kind k) {
  static constexpr const char* names[] = {"equal",
                                          "refused",
                                          "verify refutes it",
                                          "simulate refuses it",
                                          "it does not run",
                                          "numbers differ",
                                          "the simulator has another order",
                                          "a peak is not what is alive",
                                          "a cache changes the program"};
  return names[static_cast<int>(k)];
}

// The instructions of a device as the simulator runs them.
std::vector<std::pair<SegmentId, int>> simulated_order(const Program& p, const DeviceClass& c,
                                                       const ClassTimeline& timeline) {
  std::vector<std::pair<SegmentId, int>> out;
  const std::vector<std::vector<std::int64_t>> last = last_indices(p, c);
  for (const SlotBlock& slot : timeline.slots) {
    const auto s = static_cast<std::size_t>(slot.segment);
    const bool last_run = index_of(p, slot) == last[s];
    for (std::size_t i = 0; i < p.segments[s].instructions.size(); ++i)
      if (last_run || !p.segments[s].instructions[i].last) out.emplace_back(slot.segment, static_cast<int>(i));
  }
  return out;
}

// One cache for all models, plans and edits of a run of the test.
MaterializeCache& shared_cache() {
  static MaterializeCache cache;
  return cache;
}

// What is alive at a peak makes it up, and nothing is there less than not at all.
std::string wrong_memory(const Graph& g, const Program& p, const ClassTimeline& c) {
  Memory sum;
  for (const AliveBytes& a : c.alive) sum[a.kind] += a.bytes;
  if (!(sum == c.peak))
    return std::to_string(sum.bytes()) + " bytes are alive at a peak of " + std::to_string(c.peak.bytes());
  for (const AliveGroup& a : alive_groups(g, p, c))
    if (a.bytes < 0 && !a.what.starts_with("at work")) return a.what + " has " + std::to_string(a.bytes) + " bytes";
  return {};
}

// Conversions are chosen by cost: with costs of two kinds, more of them are tried.
Cluster cluster_of(const RandomCase& c) {
  Cluster cluster = *read_cluster(c.pairs ? "dgx-a100x3" : "local", {.devices = 6});
  if (!c.pairs) return cluster;
  cluster.levels[0].arity = 2;
  for (Level& level : cluster.levels) level.bandwidth /= 1e6;
  return cluster;
}

Outcome judge(const RandomCase& c, const std::filesystem::path& folder) {
  using Kind = Outcome::Kind;
  const Graph base = transformer(c.sizes);
  const Result<plan::Plan> plan = plan::parse_plan(c.plan(), "random.plan");
  if (!plan.ok()) return {Kind::refused, to_string(plan.diagnostics)};
  const Cluster cluster = cluster_of(c);
  const Result<Materialized> m = materialize(base, *plan, cluster);
  if (!m.ok()) return {Kind::refused, to_string(m.diagnostics)};
  const Result<Materialized> again = materialize(base, *plan, cluster, {}, &shared_cache());
  if (!again.ok() || to_json(again->program) != to_json(m->program)) return {Kind::cached, ""};
  const VerifyReport verified = verify(*m->graph, m->program);
  const auto& lags = m->program.relaxations;
  const bool old = std::any_of(lags.begin(), lags.end(), [](const Relaxation& r) { return r.lag > 0; });
  if (verified.verdict != (old ? Verdict::relaxed : Verdict::equivalent))
    return {Kind::refuted, verified.failures.empty() ? "" : to_string(verified.failures.front())};
  SimulationOptions options;
  options.alive = true;
  const Result<Simulation> simulated = simulate(*m->graph, m->program, cluster, options);
  if (!simulated.ok()) return {Kind::not_simulated, to_string(simulated.diagnostics)};
  for (const ClassTimeline& timeline : simulated->classes)
    if (const std::string wrong = wrong_memory(*m->graph, m->program, timeline); !wrong.empty())
      return {Kind::other_memory, wrong};
  int steps = 2;  // enough for every age of a parameter, and for a whole period
  for (const Relaxation& r : lags) steps = std::max(steps, static_cast<int>(r.lag) + 3);
  steps = std::max(steps, static_cast<int>(most_ahead(m->program)) + 2);
  const std::string file = (folder / "reference").string();
  write_one_device_run(*m->graph, m->program, file, steps);
  const ThreadRun run = run_on_threads(*m->graph, m->program, file, steps);
  if (!run.failure.empty()) return {Kind::not_run, run.failure};
  if (!(run.error <= 1e-9) || run.compared == 0)
    return {Kind::different, run.tensor + " by " + std::to_string(run.error)};
  for (std::size_t d = 0; d < run.orders.size(); ++d) {
    const int k = class_of(m->program, static_cast<int>(d));  // -1: it has nothing to do
    const auto expected = k < 0 ? std::vector<std::pair<SegmentId, int>>()
                                : simulated_order(m->program, m->program.classes[static_cast<std::size_t>(k)],
                                                  simulated->classes[static_cast<std::size_t>(k)]);
    if (run.orders[d] != expected) return {Kind::other_order, "device " + std::to_string(d)};
  }
  return {};
}

// The smallest case found that fails in the same way.
RandomCase shrink(RandomCase c, Outcome::Kind kind, const std::filesystem::path& folder) {
  for (bool again = true; again;) {
    again = false;
    for (const RandomCase& next : simpler(c))
      if (judge(next, folder).kind == kind) {
        c = next;
        again = true;
        break;
      }
  }
  return c;
}

std::pair<unsigned, unsigned> wanted() {
  unsigned first = 1, count = 150;
  if (const char* text = std::getenv("PLANSCOPE_PLANS")) {
    char* end = nullptr;
    first = static_cast<unsigned>(std::strtoul(text, &end, 10));
    if (*end == ':') count = static_cast<unsigned>(std::strtoul(end + 1, nullptr, 10));
  }
  return {first, count};
}

}  // namespace

TEST_CASE("random plans run equal, or are refused with a reason", "[slow]") {
  const TemporaryFolder scratch("plans");
  const std::filesystem::path& folder = scratch.path();
  const auto [first, count] = wanted();
  unsigned equal = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const RandomCase c = random_case(seed);
    const Outcome o = judge(c, folder);
    equal += o.kind == Outcome::Kind::equal;
    if (o.kind == Outcome::Kind::refused) REQUIRE_FALSE(o.what.empty());
    if (o.good()) continue;
    const RandomCase small = shrink(c, o.kind, folder);
    FAIL_CHECK("case " << seed << ", " << name(o.kind) << ": " << judge(small, folder).what << "\n" << small.text());
  }
  std::cout << equal << " of " << count << " random plans run equal, the others are refused\n";
  REQUIRE(equal * 3 >= count);
}
