// What the workspace keeps of measurements, and what predictions make of it.
#include "app/workbench/profiling.h"

#include <catch2/catch.hpp>

#include "app/workbench/error_band.h"
#include "engine/base/temporary_folder.h"

namespace planscope {
namespace {

template <class T>
T good(Result<T> r) {
  INFO(to_string(r.diagnostics));
  REQUIRE(r.ok());
  return std::move(*r);
}

Cluster local(int devices, int cores) {
  PresetRequest request;
  request.devices = devices;
  request.cores = cores;
  return good(read_cluster("local", request));
}

struct Fixture {
  TemporaryFolder folder{"profiling"};
  FakeClock clock{1000};
  Workspace w = good(Workspace::open(folder / "w.planscope", clock));
  std::vector<Diagnostic> problems;

  void ran(const std::string& device, const std::string& origin, double predicted, double measured) {
    const RowId plan = good(w.add_plan({.name = "p", .text = "devices 1\n"}));
    const RowId run = good(w.start_run(plan, 1, {}));
    good(w.end_run(run, RunStatus::done,
                   "{\"device\":\"" + device + "\",\"origin\":\"" + origin + "\",\"predicted_step_us\":" +
                       std::to_string(predicted) + ",\"step_us\":[1," + std::to_string(measured) + ",1e9]}"));
  }
};

Simulation step_of(Nanoseconds step, std::array<Nanoseconds, 3> sources) {
  Simulation s;
  s.step_ns = step;
  s.classes.resize(1);
  s.classes[0].sources = sources;
  return s;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "measurements are found again for the same device alone") {
  const Cluster one = local(1, 2), two = local(2, 2), shared = local(4, 2);
  ProfileItem item;
  item.key = "aten::linear float32 forward";
  item.shapes = "8x4 3x4 > 8x3";
  item.modelled_us = 10;
  good(store(w, profiled_device(one), item, {20}, 7));
  good(store(w, profiled_device(one), item, {30}, 9));  // measured again
  const CostModel costs = stored_costs(&w, two, problems);
  CHECK(problems.empty());
  REQUIRE(costs.profiles.size() == 1);
  CHECK(costs.profiles.at("process").samples ==
        std::map<std::string, std::vector<ProfileSample>>{{item.key, {{item.shapes, 10, 30}}}});
  CHECK(profiled_device(one) == profiled_device(two));
  CHECK(stored_costs(&w, shared, problems).profiles.empty());  // processes that share cores
  CHECK(stored_costs(nullptr, one, problems).profiles.empty());
}

TEST_CASE_METHOD(Fixture, "what was measured counts for its own kind of devices") {
  const Cluster one = local(1, 2);
  ProfileItem item;
  item.key = memory_key;
  item.shapes = "1000 bytes";
  item.modelled_us = 10;
  good(store(w, profiled_device(one), item, {30}, 7));
  Cluster mixed = local(2, 2);
  mixed.kinds.push_back({mixed.kinds[0].type, 1});
  mixed.kinds[1].type.name = "other";
  const CostModel costs = stored_costs(&w, mixed, problems);
  CHECK(problems.empty());
  CHECK(costs.profiles.size() == 1);
  CHECK(memory_time(1e6, mixed.device(0), costs).source == FigureSource::interpolated);
  CHECK(memory_time(1e6, mixed.device(1), costs).source == FigureSource::modelled);
  CHECK(profiled_device(mixed) == profiled_device(mixed.device(0)) + ", " + profiled_device(mixed.device(1)));
  Materials m;
  m.cluster = mixed;
  const std::atomic<bool> stop = false;
  CHECK(profile({m}, {"no-worker"}, w, {}, stop, problems).status == LaunchStatus::failed);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what == "'localx2' has devices that cannot be measured here: other");
}

TEST_CASE_METHOD(Fixture, "messages take the measured times of the link, beside what its fit says") {
  const Cluster two = local(2, 2);
  ProfileRow row;
  row.device = profiled_device(two);
  row.signature = "link between processes";
  row.json =
      R"({"latency_us": 2, "bandwidth_bytes_per_s": 1e9, "samples": [["send", 1000, 7], ["all_reduce", 1000, 9]]})";
  good(w.put_profile(row));
  const CostModel costs = stored_costs(&w, two, problems);
  CHECK(problems.empty());
  CHECK(costs.links.samples ==
        std::map<std::string, std::vector<ProfileSample>>{{"link all_reduce", {{"1000 bytes", 2 * (2 + 0.5), 9}}},
                                                          {"link send", {{"1000 bytes", 2 + 1, 7}}}});
  CHECK(with_stored_link(two, w, problems).levels[0].bandwidth == 1e9);
}

TEST_CASE_METHOD(Fixture, "other clusters and shared cores are refused, with the reason") {
  Materials m;
  m.cluster = good(read_cluster("dgx-a100", {}));
  const std::atomic<bool> stop = false;
  Profiling p = profile({m}, {"no-worker"}, w, {}, stop, problems);
  CHECK(p.status == LaunchStatus::failed);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what == "'dgx-a100x1' has devices that cannot be measured here: A100-SXM4-80GB");
  problems.clear();
  m.cluster = local(4, 2);
  p = profile({m}, {"no-worker"}, w, {}, stop, problems);
  CHECK(p.status == LaunchStatus::failed);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what == "the processes of 'localx4' share cores");
}

TEST_CASE_METHOD(Fixture, "the band is that of past runs with predictions of the same origin") {
  const Cluster cluster = local(1, 2);
  const std::string device = profiled_device(cluster);
  const Simulation s = step_of(2'000'000, {600, 100, 300});
  CHECK(step_figure(s, &w, cluster, problems).origin == FigureSource::measured);
  CHECK(step_figure(s, &w, cluster, problems).shares == std::array<double, 3>{0.6, 0.1, 0.3});
  ran(device, "measured", 1000, 1100);
  ran(device, "measured", 1000, 900);
  ran(device, "modelled", 1000, 9000);
  ran("another device", "measured", 1000, 9000);
  CHECK_FALSE(step_figure(s, &w, cluster, problems).band.has_value());  // two runs say too little
  ran(device, "measured", 100, 130);
  const StepFigure f = step_figure(s, &w, cluster, problems);
  REQUIRE(f.band.has_value());
  CHECK(f.band->low_us == Approx(1800));
  CHECK(f.band->high_us == Approx(2600));
  CHECK(f.band->runs == 3);
  CHECK(to_string(f) == "measured by 60 %, 1.80 ms to 2.60 ms as in 3 runs");
  CHECK(to_string(step_figure(step_of(2'000'000, {0, 0, 9}), &w, cluster, problems)) == "modelled, error unknown");
  CHECK_FALSE(step_figure(step_of(2'000'000, {1, 0, 9}), &w, cluster, problems).band.has_value());
  CHECK(problems.empty());
}

}  // namespace planscope
