// What the planner says of a plan with open arguments against all of its completions: it says that there is none where
// there is none and nowhere else, and what it finds keeps the rows and is no worse than it says. The memory rows go
// from less than any completion needs to more than all of them do.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>

#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "planner/complete/complete.h"
#include "planner/evaluate/evaluate.h"
#include "tests/planner/complete/open_space.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

constexpr double kNever = 1e5;  // seconds: a search ends when it has looked at everything

const Graph& graph() {
  static const Graph g = transformer({.batch = 4, .seq = 4, .hidden = 8, .heads = 4, .kv_heads = 4, .ffn = 16,
                                      .vocab = 24, .layers = 3, .bias = false});
  return g;
}

const Cluster& cluster() {
  static const Cluster c = *read_cluster("local", {.devices = 4});
  return c;
}

std::string with_row(const std::string& text, const std::string& place, std::int64_t bytes) {
  return text + "require memory(" + place + ") <= " + std::to_string(bytes) + "\n";
}

// A completion that can be carried out.
struct Whole {
  std::string text;
  double step_us = 0;
  std::int64_t bytes = 0;  // the peak at the place that the memory row is about
};

std::vector<Whole> all_completions(const OpenSpace& s, MaterializeCache& cache) {
  std::vector<Whole> out;
  for_each_completion(s, [&](const std::string& text) {
    const Result<plan::Plan> p = plan::parse_plan(with_row(text, s.place, 0), "a.plan");  // which all of them break
    INFO(text);
    REQUIRE(p.ok());
    const Result<Evaluation> e = evaluate(graph(), *p, cluster(), cache);
    if (!e.ok()) return;
    REQUIRE(e->broken.size() == 1);
    out.push_back({text, e->simulation.step_us(), e->broken[0].peak});
  });
  return out;
}

// From nothing to plenty, with both sides of where it begins to be enough.
std::vector<std::int64_t> limits_of(const std::vector<Whole>& all) {
  std::vector<std::int64_t> peaks;
  for (const Whole& w : all) peaks.push_back(w.bytes);
  std::sort(peaks.begin(), peaks.end());
  if (peaks.empty()) return {1, 1 << 30};
  return {1, peaks.front() / 2, peaks.front() - 1, peaks.front(), peaks[peaks.size() / 2], 2 * peaks.back()};
}

struct Seen {
  int complete = 0, impossible = 0, unknown = 0, least = 0;
};

void check(const OpenSpace& s, std::int64_t limit, const std::vector<Whole>& all, MaterializeCache& cache, Seen& seen) {
  const std::string text = with_row(s.text(), s.place, limit);
  const Whole* best = nullptr;
  for (const Whole& w : all)
    if (w.bytes <= limit && (!best || w.step_us < best->step_us)) best = &w;
  INFO(text << "of " << all.size() << " completions the best one that keeps the rows:\n");
  INFO((best ? best->text : "none"));
  const std::atomic<bool> stop = false;
  const Result<Completion> c = complete(graph(), *plan::parse_plan(text, "a.plan"), {}, cluster(),
                                        {.time_limit_s = kNever, .explain = false}, stop);
  INFO(to_string(c.diagnostics));
  if (!c.value) {  // refused whatever the values are
    CHECK(!best);
    ++seen.impossible;
    return;
  }
  INFO(to_string(c->status) << " " << c->reason);
  if (c->status == CompletionStatus::impossible) {
    CHECK(!best);
    ++seen.impossible;
    return;
  }
  if (c->status == CompletionStatus::unknown) {
    CHECK(s.looks_at_some);
    ++seen.unknown;
    return;
  }
  CHECK((best || s.lists_some));
  REQUIRE(c->simulation);
  INFO(plan::print(c->plan));
  const Result<Evaluation> again = evaluate(graph(), c->plan, cluster(), cache);
  REQUIRE(again.ok());
  CHECK(again->broken.empty());
  CHECK(verify(*again).report.verdict == Verdict::equivalent);
  const double step_us = c->simulation->step_us();
  CHECK(again->simulation.step_us() == step_us);
  ++seen.complete;
  if (!best) return;
  if (!s.lists_some) CHECK(step_us >= best->step_us);
  if (c->lower_bound_us) CHECK(*c->lower_bound_us <= best->step_us);
  if (!c->lower_bound_us || *c->lower_bound_us < step_us) return;
  CHECK(step_us <= best->step_us);
  ++seen.least;
}

Seen check_seeds(unsigned first, unsigned last) {
  Seen seen;
  for (unsigned seed = first; seed <= last; ++seed) {
    const OpenSpace s = random_space(seed);
    MaterializeCache cache;
    INFO("seed " << seed << "\n" << s.text());
    const std::vector<Whole> all = all_completions(s, cache);
    for (const std::int64_t limit : limits_of(all)) check(s, limit, all, cache, seen);
  }
  return seen;
}

}  // namespace

TEST_CASE("the planner says of open plans what all of their completions say", "[slow]") {
  const Seen seen = check_seeds(3, 5);
  CHECK(seen.complete > 3);
  CHECK(seen.impossible > 3);
  CHECK(seen.least > 1);
}

TEST_CASE("the planner says of many open plans what all of their completions say", "[slow]") {
  const Seen seen = check_seeds(6, 60);
  CHECK(seen.complete > 40);
  CHECK(seen.impossible > 40);
  CHECK(seen.least > 20);
}
