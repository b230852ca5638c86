// Programs from files: verified, then run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/workbench/workbench.h"
#include "engine/program/program_json.h"
#include "planner/verify/verify.h"
#include "tests/app/cli/program.h"
#include "tests/planner/verify/mutations/mutations.h"

namespace planscope {
namespace {

using Json = nlohmann::json;

// The file of the Program of a plan.
std::string program_of(const std::string& model, const std::string& plan, const ScratchFolder& scratch) {
  const std::string file = scratch.path("program.json");
  const Ended e = planscope_program({"plan", model, plan, "--program", file}, scratch);
  INFO(e.err);
  REQUIRE(e.status == 0);
  return file;
}

Json run_program(const std::string& model, const std::string& file, const ScratchFolder& scratch, int status) {
  const Ended e = planscope_program({"run", model, "--program", file, "--steps", "2", "--json"}, scratch);
  INFO(e.err);
  REQUIRE(e.status == status);
  return status == 2 ? Json() : Json::parse(e.out);
}

const std::string llama = "sample_models/llama_tiny.pt2";

TEST_CASE("a program from a file is run at its own sizes, with every check of run") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan =
      scratch.write("p.plan", "devices 2 as data=2\nmodel batch=6 seq=24\ntrans * batch by data\n");
  const std::string file = program_of(llama, plan, scratch);
  CHECK(planscope_program({"verify", llama, "--program", file}, scratch).status == 0);
  const Json a = run_program(llama, file, scratch, 0);
  CHECK(a["status"] == "done");
  CHECK(a["ranks"] == 2);
  CHECK(a["check"]["equal"] == true);
  REQUIRE(a["losses"].size() == 2);
  const Ended same = planscope_program({"run", llama, plan, "--procs", "2", "--steps", "2", "--json"}, scratch);
  REQUIRE(same.status == 0);
  CHECK(Json::parse(same.out)["losses"] == a["losses"]);
}

TEST_CASE("a program that computes something else is not run") {
  const ScratchFolder scratch;
  const std::string plan = scratch.write("p.plan", "devices 2 as data=2\ntrans * batch by data\n");
  Json program = Json::parse(read_text(program_of(llama, plan, scratch)));
  for (Json& segment : program["segments"])
    for (Json& i : segment["instructions"])
      if (i["do"] == "update") i["in"][1] = program["loss"];
  const std::string file = scratch.write("other.json", program.dump());
  const Json a = run_program(llama, file, scratch, 1);
  CHECK(a["status"] == "failed");
  CHECK(a["check"].is_null());
  CHECK(a["failure"]["reason"].get<std::string>().starts_with("the program is not run: it is different; update: "));
  const std::string damaged = scratch.write("damaged.json", "{}");
  run_program(llama, damaged, scratch, 2);
  run_program("sample_models/gpt2_tiny.pt2", file, scratch, 2);
  CHECK(planscope_program({"run", llama, plan, "--program", file, "--procs", "2"}, scratch).status == 2);
  CHECK(planscope_program({"run", llama}, scratch).status == 2);
  CHECK(planscope_program({"run", llama, "--program", file, "--procs", "3"}, scratch).status == 2);
}

// A backward finds its forward run by the axes of its index.
TEST_CASE("segments may name their free axes in any order") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  Json program = Json::parse(read_text(program_of(llama, "sample_models/plans/llama_tiny-token-slices.plan", scratch)));
  int turned = 0;
  for (std::size_t s = 0; s < program["segments"].size(); ++s) {
    Json& segment = program["segments"][s];
    if (segment["phase"] != "b" || segment["free_axes"].size() != 2) continue;
    ++turned;
    std::swap(segment["free_axes"][0], segment["free_axes"][1]);
    for (Json& c : program["classes"])
      for (Json& loop : c["loops"])
        for (Json& slot : loop[1])
          if (slot[0] == s) std::swap(slot[1][0], slot[1][1]), std::swap(slot[2][0], slot[2][1]);
  }
  REQUIRE(turned > 0);
  CHECK(run_program(llama, scratch.write("turned.json", program.dump()), scratch, 0)["check"]["equal"] == true);
}

// What verify accepts of Programs broken at random is run; `tests/bench/mutants.py` does so with thousands.
TEST_CASE("mutants that are called equivalent run equal") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const testing::Mutations all = testing::open_mutations();
  testing::Random random(7);
  for (const char* name : {"llama_tiny-token-slices", "gpt2_tiny-table6"}) {
    const std::string model = "sample_models/" + std::string(name).substr(0, std::string(name).find('-')) + ".pt2";
    const auto opened =
        open_program(model, program_of(model, std::string("sample_models/plans/") + name + ".plan", scratch), nullptr);
    REQUIRE(opened.value);
    std::vector<std::pair<std::string, Program>> accepted;
    for (const auto& [what, mutate] : all)
      for (int round = 0; round < 6; ++round) {
        Program broken = opened->program;
        if (what == "another phase" || what == "no free" || !mutate(broken, *opened->graph, random) ||
            broken == opened->program)
          continue;
        if (verify(*opened->graph, broken).verdict == Verdict::equivalent) accepted.emplace_back(what, broken);
      }
    CHECK(accepted.size() > 3);
    std::shuffle(accepted.begin(), accepted.end(), random);
    accepted.resize(std::min<std::size_t>(accepted.size(), 5));
    for (const auto& [what, program] : accepted) {
      INFO(name << ": " << what);
      const Json a = run_program(model, scratch.write("mutant.json", to_json(program)), scratch, 0);
      CHECK(a["check"]["equal"] == true);
    }
  }
}

}  // namespace
}  // namespace planscope
