// The shortest period by another solver: OR-tools' CP-SAT, if the Python of the build has it (`pip install ortools`).
#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "engine/base/temporary_folder.h"
#include "planner/search/schedule/schedule.h"
#include "tests/planner/search/schedule/shapes.h"

using namespace planscope;
using namespace planscope::schedule;
using namespace planscope::schedule::testing;

namespace {

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return out;
  std::array<char, 256> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe)) out += buffer.data();
  pclose(pipe);
  return out;
}

// One problem a line: `devices resources rounds`, then tasks, edges and memory, as oracle.py reads them.
void write(std::ostream& out, const Problem& p) {
  out << p.resources << " " << p.tasks.size() << " " << p.edges.size() << " " << p.devices << "\n";
  for (const Task& t : p.tasks) {
    out << t.time << " " << t.memory << " " << t.resources.size();
    for (int r : t.resources) out << " " << r;
    for (int d : t.devices) out << " " << d;
    out << "\n";
  }
  for (const Edge& e : p.edges) out << e.from << " " << e.to << " " << e.span << " " << e.distance << "\n";
  for (const auto& m : p.memory) out << m.value_or(-1) << " ";
  out << "\n";
}

}  // namespace

TEST_CASE("CP-SAT finds no shorter period, and one as short", "[slow]") {
  const std::string python = PLANSCOPE_PYTHON;
  if (output_of(python + " -c 'import ortools; print(1)' 2>/dev/null") != "1\n") {
    WARN("no OR-tools: not compared (pip install ortools)");
    return;
  }
  std::vector<Case> cases = {v_shape(3, 2, 4), m_shape(3, 3, 4), m_shape(4, 4, 4), x_shape(3, 3, 4), x_shape(4, 3, 4)};
  std::mt19937 random(21);
  for (int i = 0; i < 20; ++i) {
    Case c = random_case(random, {.tasks = 6 + i % 5,
                                  .devices = 2 + i % 3,
                                  .most_time = 3,
                                  .diamonds = i % 3 == 1,
                                  .distances = i % 3 == 2,
                                  .streams = i % 4 == 3});
    if (search(c).outcome != Outcome::impossible) cases.push_back(std::move(c));
  }
  for (int i = 0; i < 24; ++i) {
    Case c = random_case(random, {.tasks = 5 + i % 2, .devices = 2, .most_time = 2, .diamonds = i % 4 == 1});
    add_random_rows(random, c, 1 + i % 3, false);
    if (check(c).empty() && search(c).outcome != Outcome::impossible) cases.push_back(std::move(c));
  }
  CHECK(cases.size() > 22);
  const TemporaryFolder folder("oracle");
  REQUIRE(folder);
  const std::string file = folder / "problems.txt";
  {
    std::ofstream out(file);
    for (const Case& c : cases) write(out, make_problem(c));
  }
  const std::string theirs = output_of(python + " tests/planner/search/schedule/oracle.py " + file);
  std::string ours;
  for (const Case& c : cases) {
    const Answer a = search(c);
    CHECK(a.optimal);
    ours += std::to_string(a.pattern.period) + "\n";
  }
  CHECK(ours == theirs);
}
