// The plan with the least memory within a step time, against all plans of the space one by one.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <limits>

#include "app/workbench/time_argument.h"
#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"
#include "planner/complete/least_memory.h"
#include "planner/evaluate/evaluate.h"

using namespace planscope;

namespace {

struct Figures {
  double step_us;
  std::int64_t peak;
};

Figures figures_of(const Evaluation& e) {
  Figures out{e.simulation.step_us(), 0};
  for (const ClassTimeline& t : e.simulation.classes) out.peak = std::max(out.peak, t.peak.bytes());
  return out;
}

}  // namespace

TEST_CASE("the plan with the least memory within a step time is that of all plans one by one") {
  const Result<OpenModel> model = open_model("sample_models/llama_tiny.pt2", nullptr);
  const auto text = [](const std::string& d, const std::string& t, const std::string& z) {
    return "devices 4 as data=" + d + " tensor=" + t + "\nlet L = model.layers[*]\ntrans * batch by data\n" +
           "use tp(L, tensor)\nuse zero(" + z + ", *, data)\n";
  };
  const std::string open = text("?d", "?t where ?d * ?t = 4", "?z");
  const Cluster cluster = *open_cluster("dgx-h100x1", *plan::parse_plan(open, "").value, nullptr).value;
  MaterializeCache cache;
  std::vector<Figures> all;
  for (const int d : {1, 2, 4})
    for (const int z : {0, 1, 2, 3}) {
      const std::string given = text(std::to_string(d), std::to_string(4 / d), std::to_string(z));
      const Result<Evaluation> e = evaluate(model->graph, *plan::parse_plan(given, "").value, cluster, cache, {});
      if (e.value && !e.has_errors()) all.push_back(figures_of(*e));
    }
  REQUIRE(all.size() > 5);
  std::sort(all.begin(), all.end(), [](const Figures& a, const Figures& b) { return a.step_us < b.step_us; });
  const std::atomic<bool> stop{false};
  const auto search = [&](double within_us, std::vector<std::int64_t>* peaks = nullptr) {
    Result<LeastMemory> m = complete_in_least_memory(
        model->graph, *plan::parse_plan(open, "").value, {}, cluster, {.time_limit_s = 60}, within_us, stop,
        [&](double, std::int64_t peak, std::int64_t) { if (peaks) peaks->push_back(peak); });
    INFO(to_string(m.diagnostics));
    REQUIRE(m.ok());
    return std::move(*m.value);
  };
  for (std::size_t k = 0; k < all.size(); k += 2) {
    const double within_us = all[k].step_us;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Figures& p : all)
      if (p.step_us <= within_us) least = std::min(least, p.peak);
    std::vector<std::int64_t> peaks;
    const LeastMemory found = search(within_us, &peaks);
    CAPTURE(within_us, least);
    REQUIRE(found.found.status == CompletionStatus::complete);
    CHECK(found.found.simulation->step_us() <= within_us);
    CHECK(*found.peak_bytes >= least);
    CHECK(*found.peak_bytes <= least + least / 128);
    REQUIRE(found.lower_bound_bytes);
    CHECK(*found.lower_bound_bytes < least);
    CHECK(std::is_sorted(peaks.rbegin(), peaks.rend()));
  }
  // Ended after the first plan that takes less: it stands, and nothing says that it takes the least.
  std::atomic<bool> ended{false};
  const Result<LeastMemory> some = complete_in_least_memory(
      model->graph, *plan::parse_plan(open, "").value, {}, cluster, {.time_limit_s = 60}, all.back().step_us, ended,
      [&](double, std::int64_t, std::int64_t) { ended = true; });
  REQUIRE(some.ok());
  CHECK(some->found.status == CompletionStatus::unknown);
  CHECK(some->found.reason.starts_with("whether a plan needs at most "));
  CHECK(some->found.reason.ends_with(" is not known: stopped"));
  REQUIRE(some->found.simulation);
  CHECK(some->found.simulation->step_us() <= all.back().step_us);
  CHECK_FALSE(some->lower_bound_bytes);
  const LeastMemory too_fast = search(all[0].step_us / 2);
  CHECK(too_fast.found.status != CompletionStatus::complete);
  CHECK_FALSE(too_fast.peak_bytes);
}

TEST_CASE("a time of an argument has a unit") {
  CHECK(*time_argument("400ms") == 400e3);
  CHECK(*time_argument("1.5s") == 1.5e6);
  CHECK(*time_argument("80us") == 80);
  for (const char* wrong : {"", "ms", "4", "4 ms", "-1s", "0s", "nan s", "1e999s", "4m", "400msx"})
    CHECK_FALSE(time_argument(wrong).ok());
}
