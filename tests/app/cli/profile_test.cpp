// `planscope profile`: what it measures is what predictions then say they are from.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

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

TEST_CASE("devices that are not here are not measured") {
  const ScratchFolder scratch;
  const Ended e = planscope_program({"profile", model, "--cluster", "dgx-a100", "--json"}, scratch);
  CHECK(e.status == 2);
  CHECK_THAT(e.err, Catch::Contains("'dgx-a100x1' has devices that cannot be measured here: A100-SXM4-80GB"));
}

}  // namespace
}  // namespace planscope
