#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "engine/cluster/cluster.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"
#include "engine/program/structure.h"
#include "small_program.h"

using namespace planscope;

namespace {

Program materialized(const Graph& g) {
  const auto plan = plan::parse_plan(
      "devices 8 as pipe=2 data=2 tensor=2\naxis mb=4\nlet S = cut layers.* into |pipe|\ntrans * batch by mb, data\n"
      "trans layers.*.up out by tensor\ntrans layers.*.down in by tensor\nassign S[i] to pipe=i\nuse 1f1b(S)\n"
      "relax fetch(S[i]) lag |S|-1-i\n",
      "a.plan");
  PresetRequest request;
  request.devices = 8;
  auto m = materialize(g, *plan, *read_cluster("local", request));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.value);
  return m->program;
}

}  // namespace

TEST_CASE("a program reads back as it was printed, to the byte") {
  const Graph g = tiny::tiny_graph(2);
  Program turned = tiny::small_program(g);
  const Digit digit{3, 4, 1, {}, 2, 3, 1, 2};
  Digit mirrored{2, 2, 1, {}, 3, 1, 0, 1, 1}, before{3, 4, 1}, every{3, 4, 1};
  before.reach = Reach::prefix;
  every.reach = Reach::every;
  turned.layouts.push_back({{{1, 0, {digit}}}, {{{3, 4, 1}, PartialKind::softmax}}});
  turned.layouts.push_back({{{0, 0, {every, mirrored}}, {1, 0, {before}}}, {}});
  Instruction rotate;
  rotate.code = Code::issue;
  rotate.in = rotate.out = {0};
  rotate.move = {MoveKind::rotate, {{2, 2, 1}}, 1, 0, -1, -1, PartialKind::sum, -1, digit};
  turned.segments[0].instructions.insert(turned.segments[0].instructions.begin() + 1, rotate);
  for (const Program& p : {tiny::small_program(g), materialized(g), turned}) {
    const std::string text = to_json(p);
    const Result<Program> back = program_from_json(text, g);
    INFO(to_string(back.diagnostics));
    REQUIRE(back.ok());
    CHECK(*back.value == p);
    CHECK(to_json(*back.value) == text);
  }
}

TEST_CASE("a file of another kind, version or model is told so") {
  const Graph g = tiny::tiny_graph(1);
  CHECK(to_string(program_from_json("{", g).diagnostics) == "the program file is damaged; it is not JSON\n");
  CHECK(to_string(program_from_json("{}", g).diagnostics) == "the program file is damaged; 'format' is missing\n");
  CHECK(to_string(program_from_json("{\"format\":\"other\"}", g).diagnostics) ==
        "the program file is damaged; it is not a program of this version\n");
  Program p = tiny::small_program(g);
  p.graph_digest = 1;
  const Result<Program> r = program_from_json(to_json(p), g);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].what == "the program was made for another model");
}

TEST_CASE("an index out of bounds names its place") {
  const Graph g = tiny::tiny_graph(1);
  Program p = tiny::small_program(g);
  p.values[0].layout = 9;
  CHECK(to_string(program_from_json(to_json(p), g).diagnostics) ==
        "the program is damaged; values[0]: its layout does not exist\n");
  p = tiny::small_program(g);
  p.classes[0].loops[0].count = 5;
  CHECK(to_string(program_from_json(to_json(p), g).diagnostics) ==
        "the program is damaged; classes[0]: a slot has an index out of range\n");
}

// Every digit, word and bracket of the text is replaced in turn: the answer is a diagnostic or a program that can be
// walked through safely.
TEST_CASE("a damaged file is a diagnostic, never a crash") {
  const Graph g = tiny::tiny_graph(2);
  const std::string text = to_json(materialized(g));
  std::mt19937 random(7);
  const std::string bytes = "0123456789-,[]{}\":ae \\";
  int refused = 0, read = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = text;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          damaged.erase(at, 1 + random() % 8);
          break;
        case 2:
          damaged.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        default:
          damaged.insert(at, "99999999999");
          break;
      }
    }
    const Result<Program> r = program_from_json(damaged, g);
    if (!r.value) {
      REQUIRE(!r.diagnostics.empty());
      ++refused;
      continue;
    }
    ++read;
    REQUIRE(check_structure(*r.value, g).empty());
    print(*r.value, g);
  }
  CHECK(refused > 500);
  CHECK(read > 0);
}

TEST_CASE("truncated files are refused") {
  const Graph g = tiny::tiny_graph(1);
  const std::string text = to_json(tiny::small_program(g));
  for (std::size_t n = 0; n + 2 < text.size(); ++n) REQUIRE(!program_from_json(text.substr(0, n), g).value);
}
