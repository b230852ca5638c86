// Every plan beside the sample models is verified, simulated, and trained on real processes (`planscope demo --all`).
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program.h"

using namespace planscope;
using Json = nlohmann::json;

namespace {

// A prediction is that of a device class, for its largest blocks: the fullest process of those that share one.
std::map<double, double> fullest(const Json& row) {
  std::map<double, double> measured;
  for (std::size_t rank = 0; rank < row["predicted_peak_bytes"].size(); ++rank) {
    double& most = measured[row["predicted_peak_bytes"][rank].get<double>()];
    most = std::max(most, row["rank_peak_bytes"].at(rank).get<double>());
  }
  return measured;
}

}  // namespace

TEST_CASE("every sample plan computes what its model computes, and trains as one device does") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const pid_t pid = start_planscope({"demo", "--all", "--json", "-o", scratch.path("report")}, scratch, "demo");
  const Ended e = finish_planscope(pid, scratch, "demo", std::chrono::minutes(28));
  INFO(e.err);
  REQUIRE(e.status == 0);
  const Json answer = Json::parse(e.out);
  std::size_t plans = 0;
  for (const auto& entry : std::filesystem::directory_iterator("sample_models/plans"))
    plans += entry.path().extension() == ".plan";
  REQUIRE(plans >= 24);
  CHECK(answer["rows"].size() == plans);
  for (const Json& row : answer["rows"]) {
    INFO(row.dump());
    CHECK((row["verdict"] == "equivalent" || row["verdict"] == "relaxed"));
    CHECK(row["equal"] == true);
    CHECK(row["predicted_step_us"].get<double>() > 0);
    CHECK(row["step_us"].get<double>() > 0);
    CHECK(!row["predicted_peak_bytes"].empty());
    // Bytes of tensors that are alive at once, by the worker's own allocator.
    for (const auto& [predicted, measured] : fullest(row)) CHECK(measured == Approx(predicted).epsilon(0.05));
  }
}
