// Trials from the command line: equality, a killed rank, a killed planscope, an interrupt.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "storage/database.h"
#include "tests/app/cli/program.h"

namespace planscope {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

const std::string model = "sample_models/llama_tiny.pt2";
constexpr const char* two = "devices 2 as data=2\ntrans * batch by data\n";

// Worker processes that `parent` has started.
std::vector<pid_t> workers_of(pid_t parent) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_text(entry.path().string() + "/stat");
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos || stat.size() < end + 4) continue;
    if (std::stoi(stat.substr(end + 4)) == parent && stat.find("(planscope-work") != std::string::npos)
      out.push_back(std::stoi(name));
  }
  return out;
}

bool alive(pid_t pid) {
  const std::string stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

template <class F>
bool soon(F&& f, std::chrono::seconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!f()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

TEST_CASE("a data-parallel trial equals the one-device run and is recorded") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const Ended e = planscope_program(
      {"run", model, scratch.write("two.plan", two), "--procs", "2", "--steps", "2", "--json"}, scratch);
  INFO(e.err);
  REQUIRE(e.status == 0);
  const Json a = Json::parse(e.out);
  REQUIRE(a["status"] == "done");
  REQUIRE(a["ranks"] == 2);
  REQUIRE(a["step_us"].size() == 2);
  REQUIRE(a["peak_bytes"].size() == 2);
  REQUIRE(a["check"]["equal"] == true);
  REQUIRE(a["check"]["max_relative_error"].get<double>() <= 1e-9);
  REQUIRE(a["failure"].is_null());
  const Json shown =
      Json::parse(planscope_program({"show", "run", std::to_string(a["run"].get<int>()), "--json"}, scratch).out);
  REQUIRE(shown["status"] == "done");
  REQUIRE(shown["spans"].get<int>() > 10);
  REQUIRE(shown["result"]["check"]["equal"] == true);
}

TEST_CASE("what experts need while gradients are added up, or computed apart, is what was predicted") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan = "devices 1\naxis mb=8\nmodel batch=8\ntrans * batch by mb\n";
  for (const char* line : {"", "trans model.layers[3] grad_split\n", "trans model.layers[*] grad_split\n"}) {
    const Ended e = planscope_program({"run", "sample_models/mixtral_tiny.pt2", scratch.write("p.plan", plan + line),
                                       "--procs", "1", "--steps", "1", "--json"},
                                      scratch);
    INFO(line << e.err);
    REQUIRE(e.status == 0);
    const Json a = Json::parse(e.out);
    CHECK(a["check"]["equal"] == true);
    CHECK(a["peak_bytes"][0].get<double>() == Approx(a["predicted_peak_bytes"][0].get<double>()).epsilon(0.02));
  }
}

TEST_CASE("what one process needs is what was predicted, whatever the model") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string head = "devices 1\naxis mb=";
  for (const char* name : {"bert", "evoformer", "gpt2", "llama", "mixtral", "swin", "t5"})
    for (const char* lines : {"1\n", "4\ntrans * batch by mb\n", "8\ntrans * batch by mb\n"}) {
      const Ended e =
          planscope_program({"run", std::string("sample_models/") + name + "_tiny.pt2",
                             scratch.write("p.plan", head + lines), "--procs", "1", "--steps", "1", "--json"},
                            scratch);
      INFO(name << ", mb=" << lines << e.err);
      REQUIRE(e.status == 0);
      const Json a = Json::parse(e.out);
      CHECK(a["peak_bytes"][0].get<double>() == Approx(a["predicted_peak_bytes"][0].get<double>()).epsilon(0.005));
    }
}

TEST_CASE("what backward passes need and end is what was predicted") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  struct Case {
    std::string model, lines;
    int procs;
    double most;
  };
  std::vector<Case> cases = {
      {"gpt2", "devices 2 as tensor=2\nuse tp(transformer.h[*], tensor)\ntrans * grad_split\n", 2, 0.01},
      {"mixtral", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(3, *, data)\n", 4, 0.02},
      {"swin", "devices 2 as tensor=2\nuse tp(swin.encoder.layers[*].blocks[*], tensor)\ntrans * grad_split\n", 2,
       0.01},
      {"llama", "devices 2 as cp=2\nuse zigzag(model.layers[*].self_attn, cp)\ntrans model.layers[*] offload\n", 2,
       0.01},
      {"llama", "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(2, *, data)\n", 4, 0.01},
      {"llama", "devices 3 as data=3\naxis mb=2\nmodel batch=6\ntrans * batch by mb, data\nuse zero(3, *, data)\n", 3,
       0.01}};
  for (const char* name : {"bert", "gpt2", "llama", "mixtral", "swin", "t5"})
    cases.push_back({name, "devices 1\ntrans * grad_split\n", 1, 0.02});
  for (const Case& c : cases) {
    const Ended e =
        planscope_program({"run", "sample_models/" + c.model + "_tiny.pt2", scratch.write("p.plan", c.lines), "--procs",
                           std::to_string(c.procs), "--steps", "1", "--json"},
                          scratch);
    INFO(c.model << ": " << c.lines << e.err);
    REQUIRE(e.status == 0);
    const Json a = Json::parse(e.out);
    CHECK(a["peak_bytes"][0].get<double>() == Approx(a["predicted_peak_bytes"][0].get<double>()).epsilon(c.most));
  }
}

// A trial that takes some seconds: long enough to be killed, short enough for the one-device run before it.
struct Long {
  explicit Long(const ScratchFolder& scratch)
      : pid(start_planscope({"run", model, scratch.write("two.plan", two), "--procs", "2", "--steps", "60", "--json"},
                            scratch, "long")) {}
  bool working() {
    return soon([&] { return workers_of(pid).size() == 2; }, std::chrono::seconds(150));
  }
  pid_t pid;
};

TEST_CASE("a killed rank ends the run") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  Long run(scratch);
  REQUIRE(run.working());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::vector<pid_t> ranks = workers_of(run.pid);
  REQUIRE(ranks.size() == 2);
  REQUIRE(::kill(ranks[1], SIGKILL) == 0);
  const Ended e = finish_planscope(run.pid, scratch, "long");
  REQUIRE(e.status == 1);
  const Json a = Json::parse(e.out);
  REQUIRE(a["status"] == "failed");
  REQUIRE(a["failure"]["rank"].get<int>() >= 0);
  REQUIRE_THAT(a["failure"]["reason"].get<std::string>(), Catch::Contains("killed by signal 9"));
  REQUIRE(!alive(ranks[0]));
}

TEST_CASE("a rank that is stopped at its start ends the run, and is named") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  Long run(scratch);
  REQUIRE(run.working());
  std::vector<pid_t> ranks = workers_of(run.pid);
  std::sort(ranks.begin(), ranks.end());
  REQUIRE(::kill(ranks[1], SIGSTOP) == 0);
  const Ended e = finish_planscope(run.pid, scratch, "long");
  REQUIRE(e.status == 1);
  const Json a = Json::parse(e.out);
  CHECK(a["failure"]["rank"] == 1);
  CHECK_THAT(a["failure"]["reason"].get<std::string>(), Catch::StartsWith("no sign of life for 3 s"));
  for (const pid_t r : ranks) CHECK(!alive(r));
}

TEST_CASE("the end of a run waits for a workspace that is locked, and is told what became of it") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string plan = scratch.write("two.plan", two);
  REQUIRE(planscope_program({"simulate", model, plan}, scratch).status == 0);
  Database other = std::move(*Database::open(scratch.path("work.planscope"), std::chrono::milliseconds(5000)));
  REQUIRE(other.execute("BEGIN IMMEDIATE").ok());
  const Ended locked = planscope_program({"verify", model, plan, "--json"}, scratch);
  CHECK(locked.status == 0);
  CHECK(Json::parse(locked.out)["recorded"] == false);
  const pid_t trial = start_planscope({"run", model, plan, "--procs", "2", "--json"}, scratch, "locked");
  REQUIRE(soon([&] { return read_text(scratch.path("locked.err")).find("waiting for up to a minute") != std::string::npos; },
               std::chrono::seconds(150)));
  REQUIRE(other.execute("ROLLBACK").ok());
  const Ended e = finish_planscope(trial, scratch, "locked");
  CHECK(e.status == 0);
  CHECK(Json::parse(e.out)["recorded"] == true);
  const Json all = Json::parse(planscope_program({"list", "--json"}, scratch).out);
  REQUIRE(all["runs"].size() == 1);
  CHECK(all["runs"][0]["status"] == "done");
  const Json shown = Json::parse(planscope_program({"show", "two", "--json"}, scratch).out);
  CHECK(shown["verifications"].size() == 1);
}

TEST_CASE("an interrupt ends the run cleanly") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  Long run(scratch);
  REQUIRE(run.working());
  const std::vector<pid_t> ranks = workers_of(run.pid);
  REQUIRE(::kill(run.pid, SIGINT) == 0);
  const Ended e = finish_planscope(run.pid, scratch, "long");
  REQUIRE(e.status == 3);
  REQUIRE(Json::parse(e.out)["status"] == "interrupted");
  for (const pid_t r : ranks) REQUIRE(!alive(r));
}

TEST_CASE("killing planscope loses nothing that was recorded and leaves no rank") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  REQUIRE(planscope_program({"simulate", model, scratch.write("two.plan", two)}, scratch).status == 0);
  Long run(scratch);
  REQUIRE(run.working());
  const std::vector<pid_t> ranks = workers_of(run.pid);
  REQUIRE(::kill(run.pid, SIGKILL) == 0);
  REQUIRE(finish_planscope(run.pid, scratch, "long").status == 128 + SIGKILL);
  for (const pid_t r : ranks) REQUIRE(soon([&] { return !alive(r); }, std::chrono::seconds(150)));
  const Ended e = planscope_program({"list", "--json"}, scratch);
  REQUIRE(e.status == 0);
  const Json a = Json::parse(e.out);
  REQUIRE(a["plans"].size() == 1);
  REQUIRE(a["models"][0]["name"] == "llama_tiny");
  REQUIRE(a["runs"].size() == 1);
  REQUIRE(a["runs"][0]["status"] == "interrupted");
  const Json plan = Json::parse(planscope_program({"show", "two", "--json"}, scratch).out);
  REQUIRE(plan["text"] == two);
  REQUIRE(plan["predictions"].size() == 1);
}

// Ranks that others start, with the environment that their launchers give.
TEST_CASE("ranks that are started elsewhere join and train equal") {
  if (!has_worker()) return;
  const ScratchFolder scratch;
  const std::string file = scratch.path("trial.join");
  const pid_t trial = start_planscope(
      {"run", model, scratch.write("two.plan", two), "--procs", "2", "--join", file, "--json"}, scratch, "joined");
  const std::vector<std::vector<const char*>> environments = {{"RANK=0", "WORLD_SIZE=2"},
                                                              {"SLURM_PROCID=1", "SLURM_NTASKS=2"}};
  std::vector<pid_t> ranks;
  for (std::vector<const char*> variables : environments) {
    variables.push_back(nullptr);
    const std::string worker = PLANSCOPE_BIN_DIR "/planscope-worker";
    char* const arguments[] = {const_cast<char*>(worker.c_str()), const_cast<char*>("--join"),
                               const_cast<char*>(file.c_str()), nullptr};
    pid_t pid = 0;
    REQUIRE(::posix_spawn(&pid, worker.c_str(), nullptr, nullptr, arguments,
                          const_cast<char* const*>(variables.data())) == 0);
    ranks.push_back(pid);
  }
  const Ended e = finish_planscope(trial, scratch, "joined", std::chrono::seconds(150));
  for (const pid_t pid : ranks) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  INFO(e.err);
  REQUIRE(e.status == 0);
  const Json a = Json::parse(e.out);
  REQUIRE(a["ranks"] == 2);
  REQUIRE(a["check"]["equal"] == true);
  REQUIRE_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace planscope
