// Breaks a Program at random and gives each mutant to verify(), in a process of its own; what verify() accepts is run there,
// each rank a thread with the executor of the worker: two AdamW steps in float64, compared with the one-device run. A line
// of JSON for each. Mutants that crash, do not end or are missed are left in the folder.
//
//   planscope-mutants MODEL PROGRAM.json COUNT SEED FOLDER
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/workbench/workbench.h"
#include "engine/base/text.h"
#include "engine/program/program_json.h"
#include "planner/verify/verify.h"
#include "tests/planner/verify/mutations/mutations.h"
#include "tests/property/run_on_threads.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

constexpr unsigned seconds_to_verify = 20, seconds_to_run = 300;
constexpr int steps = 2;
constexpr double allowed = 1e-9;  // as in a trial, in float64

bool accepted(std::string_view verdict) { return verdict == "equivalent" || verdict == "relaxed"; }

// How the ranks of an accepted mutant end, on threads; empty: equal to the one-device run.
std::string run(const Graph& g, const Program& p, const std::string& folder) {
  const std::string reference = (std::filesystem::path(folder) / "one-device.bin").string();
  write_one_device_run(g, p, reference, steps);  // by each: it also sets the type and the threads of what follows
  const ThreadRun r = run_on_threads(g, p, reference, steps);
  if (!r.failure.empty()) return r.failure;
  if (r.compared == 0) return "nothing was compared";
  return r.error <= allowed ? "" : "error " + std::to_string(r.error) + " in " + r.tensor;
}

struct Judged {
  std::string verdict;  // or `refused`: it cannot be read; `crash`, `no end`
  std::string run;      // of an accepted one: what went wrong
};

// In a process of its own, which may crash.
Judged judged(const Graph& g, const Program& p, const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {"no pipe", {}};
  const pid_t child = ::fork();
  if (child == 0) {
    const auto tell = [&](const std::string& text) {
      if (::write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(1);
    };
    ::alarm(seconds_to_verify);
    const VerifyReport r = verify(g, p);
    const bool damaged = !r.failures.empty() && r.failures.front().kind == FailureKind::damaged;
    const std::string verdict = damaged ? "refused" : std::string(to_string(r.verdict));
    tell(verdict + "\n");
    ::alarm(seconds_to_run);
    if (accepted(verdict)) tell(run(g, p, folder) + "\n");
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::string ended = !WIFSIGNALED(status) ? "" : WTERMSIG(status) == SIGALRM ? "no end" : "crash";
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return {ended.empty() ? "crash" : ended, {}};
  Judged out{text.substr(0, line), ended.empty() ? text.substr(line + 1) : ended};
  if (!out.run.empty() && out.run.back() == '\n') out.run.pop_back();
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return std::cerr << "planscope-mutants MODEL PROGRAM.json COUNT SEED FOLDER\n", 2;
  const Result<OpenProgram> opened = open_program(argv[1], argv[2], nullptr);
  if (!opened.value || opened.has_errors()) return std::cerr << to_string(opened.diagnostics), 2;
  const Graph& graph = *opened->graph;
  const Program& original = opened->program;
  const Judged unchanged = judged(graph, original, argv[5]);
  std::cout << nlohmann::json{{"unchanged", unchanged.verdict}, {"run", unchanged.run}}.dump() << std::endl;
  Mutations all = breaking_mutations();
  all.merge(open_mutations());
  std::set<std::uint64_t> seen{digest(to_json(original))};
  const int count = std::atoi(argv[3]);
  const auto seed = static_cast<std::uint32_t>(std::atoi(argv[4]));
  Random random(seed);
  for (int made = 0, round = 0; made < count && round < 50; ++round)
    for (const auto& [name, mutate] : all) {
      Program broken = original;
      if (made >= count || !mutate(broken, graph, random)) continue;
      const std::string text = to_json(broken);
      if (!seen.insert(digest(text)).second) continue;
      const Judged j = judged(graph, broken, argv[5]);
      nlohmann::json line = {{"class", name}, {"verdict", j.verdict}, {"run", j.run}};
      if (!j.run.empty() || j.verdict == "crash" || j.verdict == "no end") {
        const std::string file = (std::filesystem::path(argv[5]) / (std::to_string(made) + ".json")).string();
        std::ofstream(file) << text;
        line["file"] = file;
      }
      std::cout << line.dump() << std::endl;
      ++made;
    }
  return 0;
}
