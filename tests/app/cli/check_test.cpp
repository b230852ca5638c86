// `planscope check`: PyTorch's word on a model; without PyTorch, how to get it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program.h"

namespace planscope {
namespace {

using Json = nlohmann::json;

const std::string model = "sample_models/gpt2_tiny.pt2", python = "build/venv/bin/python";

TEST_CASE("a Python without torch is told, with how to get one") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const Ended e = planscope_program({"check", model, "--python", scratch.path("python"), "--json"}, scratch);
  CHECK(e.status == 2);
  REQUIRE(Json::parse(e.out)["errors"].size() == 1);
  CHECK(e.err.find("cannot import torch") != std::string::npos);
  CHECK(e.err.find("pip install torch") != std::string::npos);
}

TEST_CASE("PyTorch and planscope agree on a sample, on drawn inputs and on the archive's") {
  if (!has_worker() || !std::filesystem::exists(python)) return;
  const ScratchFolder scratch;
  double loss = 0;
  for (const std::string inputs : {"archive", "drawn"}) {
    const Ended e = planscope_program(
        {"check", model, "--inputs", inputs, "--steps", "2", "--python", python, "--json"}, scratch);
    INFO(e.err);
    REQUIRE(e.status == 0);
    const Json a = Json::parse(e.out);
    CHECK(a["equal"] == true);
    CHECK(a["inputs"] == inputs);
    CHECK(a["flops"].empty());
    CHECK(a["compared"].get<int>() > 200);
    REQUIRE(a["losses"]["planscope"].size() == 2);
    CHECK(a["losses"]["pytorch"][1].get<double>() == Approx(a["losses"]["planscope"][1].get<double>()).epsilon(1e-9));
    CHECK(a["losses"]["pytorch"][0] != loss);
    loss = a["losses"]["pytorch"][0];
    const double ours = a["peak_bytes"]["planscope"], theirs = a["peak_bytes"]["pytorch"];
    CHECK(ours == Approx(theirs).epsilon(0.05));
  }
}

}  // namespace
}  // namespace planscope
