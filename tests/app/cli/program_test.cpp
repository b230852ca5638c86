// Programs as files: equal bytes from equal input, a changed one is found out, a damaged one is refused.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/cli/program.h"

namespace planscope {
namespace {

const std::string model = "sample_models/gpt2_tiny.pt2", plan = "sample_models/plans/gpt2_tiny-data-tensor.plan";

std::string program(const ScratchFolder& scratch, const std::string& name) {
  const Ended e = planscope_program({"plan", model, plan, "--program", scratch.path(name)}, scratch);
  INFO(e.err);
  REQUIRE(e.status == 0);
  return read_text(scratch.path(name));
}

TEST_CASE("the same inputs give the same program, byte for byte") {
  const ScratchFolder scratch;
  const std::string first = program(scratch, "a.json");
  REQUIRE(first.size() > 1000);
  REQUIRE(program(scratch, "b.json") == first);
}

TEST_CASE("a program with a wrong reduction is not equivalent") {
  const ScratchFolder scratch;
  std::string text = program(scratch, "whole.json");
  REQUIRE(planscope_program({"verify", model, "--program", scratch.path("whole.json")}, scratch).status == 0);
  const std::string right = R"(["all_reduce",[[1,2,1]])",
                    wrong = R"(["all_reduce",[[0,2,1]])";  // over data, not tensor
  const std::size_t at = text.find(right);
  REQUIRE(at != std::string::npos);
  text.replace(at, right.size(), wrong);
  const Ended e =
      planscope_program({"verify", model, "--program", scratch.write("wrong.json", text), "--json"}, scratch);
  REQUIRE(e.status == 1);
  const nlohmann::json a = nlohmann::json::parse(e.out);
  REQUIRE(a["verdict"] == "different");
  REQUIRE(!a["failures"].empty());
  for (const char* field : {"kind", "operator", "tensor", "region", "device", "wanted", "there", "devices", "expected", "got",
                            "statement"})
    REQUIRE(a["failures"][0].contains(field));
}

TEST_CASE("a damaged program and one of another model are refused") {
  const ScratchFolder scratch;
  const std::string text = program(scratch, "whole.json");
  for (const std::size_t size : {std::size_t{0}, text.size() / 3, text.size() - 3}) {
    const Ended e =
        planscope_program({"verify", model, "--program", scratch.write("short.json", text.substr(0, size))}, scratch);
    REQUIRE(e.status == 2);
    REQUIRE_THAT(e.err, Catch::Contains("short.json"));
  }
  REQUIRE(
      planscope_program({"verify", "sample_models/llama_tiny.pt2", "--program", scratch.path("whole.json")}, scratch)
          .status == 2);
}

}  // namespace
}  // namespace planscope
