// `planscope check`: PyTorch's word on a model; without PyTorch, how to get it.
#include <catch2/catch.hpp>
#include <cstdlib>
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

TEST_CASE("what cannot be compared is no difference") {
  if (!has_worker() || !std::filesystem::exists(python)) return;
  const ScratchFolder scratch;
  const std::string archive = scratch.path("dropping.pt2");
  const std::string script = scratch.write("export.py", R"(
import sys, torch
class Step(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.LSTM(6, 8, num_layers=2, dropout=0.3, batch_first=True)
    def forward(self, x):
        return self.net(x)[0].square().mean()
program = torch.export.export(Step().train(), (torch.randn(4, 5, 6),), strict=False)
torch.export.save(program, sys.argv[1])
class Reading(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(6, 8)
    def forward(self, x, n):
        most = n.max().item()
        torch._check(most >= 0)
        torch._check(most < 60)
        return (self.net(x) * most).square().mean()
program = torch.export.export(Reading(), (torch.randn(4, 6), torch.arange(4)), strict=False)
torch.export.save(program, sys.argv[2])
)");
  const std::string reading = scratch.path("reading.pt2");
  REQUIRE(std::system((python + " " + script + " " + archive + " " + reading + " > /dev/null 2>&1").c_str()) == 0);
  const Ended e = planscope_program({"check", archive, "--python", python, "--json"}, scratch);
  INFO(e.err);
  CHECK(e.status == 3);
  const Json a = Json::parse(e.out);
  CHECK(a["equal"] == false);
  CHECK(a["failed"].get<std::string>().find("net:lstm#0") != std::string::npos);
  CHECK(e.err.find("cannot be compared: the random draws cannot be lined up") != std::string::npos);
  const Ended all = planscope_program({"check", model, archive, reading, "--python", python, "--json"}, scratch);
  CHECK(all.status == 3);
  CHECK(Json::parse(all.out)["uncompared"] == 2);
  CHECK(all.out.find("reads a number that depends on data") != std::string::npos);
}

TEST_CASE("a file of inputs that check cannot use is bad input") {
  if (!has_worker() || !std::filesystem::exists(python)) return;
  const ScratchFolder scratch;
  const Ended e = planscope_program(
      {"check", model, "--inputs", scratch.write("text.pt", "no tensors"), "--python", python, "--json"}, scratch);
  CHECK(e.status == 2);
  CHECK(Json::parse(e.out)["errors"][0]["text"].get<std::string>().find("cannot be read") != std::string::npos);
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
