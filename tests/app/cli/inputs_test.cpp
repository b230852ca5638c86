// Where the inputs of a trial come from: the archive's examples, drawn numbers, or a file.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/graph/example_inputs.h"
#include "tests/app/cli/program.h"

namespace planscope {
namespace {

using Json = nlohmann::json;

const std::string model = "sample_models/llama_tiny.pt2";
constexpr const char* one = "devices 1\n";

Json trial(const ScratchFolder& scratch, std::vector<std::string> more, const std::string& plan = one) {
  std::vector<std::string> arguments = {"run", model, scratch.write("p.plan", plan), "--procs", "1", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended e = planscope_program(arguments, scratch);
  INFO(e.err);
  REQUIRE(e.status == 0);
  return Json::parse(e.out);
}

TEST_CASE("a trial takes the inputs of the archive, and says so") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const Json archive = trial(scratch, {}), drawn = trial(scratch, {"--inputs", "drawn"});
  CHECK(archive["inputs"] == "archive");
  CHECK(archive["seeded"].empty());
  CHECK(drawn["inputs"] == "drawn");
  CHECK(drawn["seeded"].size() == 2);
  CHECK(archive["losses"] != drawn["losses"]);
  CHECK(trial(scratch, {"--inputs", "archive"})["losses"] == archive["losses"]);

  const std::string file = scratch.write("given.pt", *read_example_inputs(model));
  const Json given = trial(scratch, {"--inputs", file});
  CHECK(given["inputs"] == file);
  CHECK(given["losses"] == archive["losses"]);
}

TEST_CASE("inputs of other sizes than the plan's are drawn, or refused where they were asked for") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan = "devices 1\nmodel batch=2\n";
  const Json a = trial(scratch, {}, plan);
  CHECK(a["inputs"] == "drawn");
  CHECK(a["inputs_note"].get<std::string>().find("its sizes are [8, 16], not [2, 16]") != std::string::npos);
  const Ended e = planscope_program(
      {"run", model, scratch.write("p.plan", plan), "--procs", "1", "--inputs", "archive", "--json"}, scratch);
  CHECK(e.status == 2);
  const std::string text = Json::parse(e.out)["errors"][0]["text"];
  CHECK(text.find("cannot be the model's input") != std::string::npos);
  CHECK(text.find("its sizes are [8, 16], not [2, 16]; the model takes ") != std::string::npos);
}

TEST_CASE("a file of inputs that is none is refused with what it must be") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan = scratch.write("p.plan", one);
  const Ended missing =
      planscope_program({"run", model, plan, "--procs", "1", "--inputs", scratch.path("none.pt")}, scratch);
  CHECK(missing.status == 2);
  CHECK(missing.err.find("is no file") != std::string::npos);
  const Ended other = planscope_program(
      {"run", model, plan, "--procs", "1", "--inputs", scratch.write("text.pt", "no tensors"), "--json"}, scratch);
  CHECK(other.status == 2);
  CHECK(Json::parse(other.out)["errors"][0]["text"].get<std::string>().find("cannot be read") != std::string::npos);
  CHECK(other.err.find("torch.save") != std::string::npos);
}

TEST_CASE("a file that is no meeting of ranks is refused and kept") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string file = scratch.write("foreign.txt", "somebody's notes\n");
  const Ended e = planscope_program(
      {"run", model, scratch.write("p.plan", one), "--procs", "1", "--join", file, "--json"}, scratch);
  CHECK(e.status == 2);
  CHECK(Json::parse(e.out)["errors"][0]["text"].get<std::string>().find("it is no file that ranks join by") !=
        std::string::npos);
  CHECK(read_text(file) == "somebody's notes\n");
}

}  // namespace
}  // namespace planscope
