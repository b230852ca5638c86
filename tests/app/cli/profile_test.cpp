// `planscope profile`: what it measures is what predictions then say they are from.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/app/cli/program.h"

namespace planscope {
namespace {

using Json = nlohmann::json;

const std::string model = "sample_models/gpt2_tiny.pt2";

Json answer(const std::vector<std::string>& arguments, const ScratchFolder& scratch) {
  const Ended e = planscope_program(arguments, scratch);
  INFO(e.err);
  REQUIRE(e.status == 0);
  return Json::parse(e.out);
}

TEST_CASE("a profile is measured once and then used") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan = scratch.write("one.plan", "devices 1\n");
  const Json before = answer({"simulate", model, plan, "--json"}, scratch);
  CHECK(before["origin"] == "modelled");
  CHECK(before["sources"]["modelled"] == 1.0);
  CHECK(before["band"].is_null());

  const Json first = answer({"profile", model, "--cluster", "local", "--json"}, scratch);
  CHECK(first["measured"].get<int>() > 20);
  CHECK(first["reused"] == 0);
  for (const Json& o : first["operators"]) {
    INFO(o.dump());
    CHECK(o["problem"] == "");
  }
  const Json again = answer({"profile", model, "--json"}, scratch);
  CHECK(again["measured"] == 0);
  CHECK(again["reused"] == first["measured"]);

  const Json after = answer({"simulate", model, plan, "--json"}, scratch);
  CHECK(after["origin"] == "measured");
  CHECK(after["sources"]["measured"].get<double>() > 0.5);
  CHECK(after["sources"]["modelled"].get<double>() < 0.1);
  CHECK(after["step_us"] != before["step_us"]);
  const Json planned = answer({"plan", model, plan, "--json"}, scratch);
  CHECK(planned["origin"] == "measured");
  CHECK(planned["step_us"] == after["step_us"]);
}

TEST_CASE("a measured link is what local clusters then have") {
  if (!has_worker() || std::thread::hardware_concurrency() < 2) return;
  const ScratchFolder scratch;
  const std::string plan = scratch.write("two.plan", "devices 2 as data=2\ntrans * batch by data\n");
  const Json before = answer({"simulate", model, plan, "--json"}, scratch);
  const std::string file = scratch.path("here.json");
  const Json a = answer({"profile", "--links", "-o", file, "--json"}, scratch);
  CHECK(a["measured"] == 0);
  const Json& links = a["links"];
  CHECK(links["latency_us"].get<double>() >= 0);
  CHECK(links["bandwidth_bytes_per_s"].get<double>() > 1e6);
  CHECK(links["samples"].size() == 45);  // nine sizes of five kinds
  for (const Json& s : links["samples"]) CHECK(s["us"].get<double>() > 0);
  const Json level = Json::parse(read_text(file))["levels"][0];
  CHECK(level["latency_us"] == links["latency_us"]);
  CHECK(level["bandwidth_bytes_per_s"] == links["bandwidth_bytes_per_s"]);
  const Json after = answer({"simulate", model, plan, "--json"}, scratch);
  CHECK(after["classes"][0]["compute_us"] == before["classes"][0]["compute_us"]);
  CHECK(after["classes"][0]["communication_us"] != before["classes"][0]["communication_us"]);
  const Json by_file = answer({"simulate", model, plan, "--cluster", file, "--json"}, scratch);
  CHECK(by_file["classes"][0]["communication_us"] == after["classes"][0]["communication_us"]);
}

TEST_CASE("a profile needs something to measure") {
  const ScratchFolder scratch;
  const Ended e = planscope_program({"profile", "--json"}, scratch);
  CHECK(e.status == 2);
  CHECK(e.err == "nothing to measure; there is neither a model nor --links; profile MODEL, profile --links\n");
}

TEST_CASE("devices that are not here are not measured") {
  const ScratchFolder scratch;
  const Ended e = planscope_program({"profile", model, "--cluster", "dgx-a100", "--json"}, scratch);
  CHECK(e.status == 2);
  CHECK_THAT(e.err, Catch::Contains("'dgx-a100x1' has devices that cannot be measured here: A100-SXM4-80GB"));
}

}  // namespace
}  // namespace planscope
