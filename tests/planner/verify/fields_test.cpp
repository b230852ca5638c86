// Whatever stands in a field of a program's file, it is refused in words, or it is a program that can be verified.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "engine/cluster/cluster.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"
#include "planner/verify/verify.h"
#include "tests/engine/program/tiny_model.h"

using namespace planscope;
using Json = nlohmann::json;
using Pointer = Json::json_pointer;

namespace {

constexpr std::size_t kOfEachList = 3;  // elements that are looked at

Program made(const Graph& g) {
  const auto plan = plan::parse_plan(
      "devices 4 as pipe=2 data=2\naxis mb=2\nlet S = cut layers.* into |pipe|\ntrans * batch by mb, data\n"
      "trans update(*) dim0 by data\nassign S[i] to pipe=i\nuse 1f1b(S)\n",
      "a.plan");
  Result<Materialized> m = materialize(g, *plan, *read_cluster("local", {.devices = 4}));
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  return m->program;
}

void collect(const Json& j, const Pointer& here, std::vector<Pointer>& out) {
  if (!here.empty()) out.push_back(here);
  if (j.is_object())
    for (const auto& [name, inner] : j.items()) collect(inner, here / name, out);
  for (std::size_t i = 0; j.is_array() && i < j.size() && i < kOfEachList; ++i) collect(j[i], here / i, out);
}

struct Seen {
  int refused = 0, verified = 0;
};

void look_at(const Json& program, const Graph& g, Seen& seen) {
  const Result<Program> p = program_from_json(program.dump(), g);
  if (!p.value) {
    REQUIRE(!p.diagnostics.empty());
    ++seen.refused;
    return;
  }
  verify(g, *p);
  ++seen.verified;
}

Seen look_at_fields(std::size_t every) {
  const Graph g = tiny::tiny_graph(2);
  const Json whole = Json::parse(to_json(made(g)));
  std::vector<Pointer> fields;
  collect(whole, Pointer(), fields);
  const std::int64_t large = std::int64_t{1} << 31, huge = std::int64_t{1} << 62;
  const std::vector<Json> others = {0,    1,   -1,      2,             7,              large, huge,
                                    true, "x", nullptr, Json::array(), Json::object(), 1.5};
  Seen seen;
  std::size_t number = 0;
  for (const Pointer& field : fields) {
    for (const Json& other : others) {
      if (number++ % every != 0) continue;
      Json changed = whole;
      changed[field] = other;
      INFO(field.to_string() << " is " << other.dump());
      look_at(changed, g, seen);
    }
    if (number++ % every != 0) continue;
    Json changed = whole;
    Json& around = changed[field.parent_pointer()];
    if (around.is_object())
      around.erase(field.back());
    else
      around.erase(static_cast<std::size_t>(std::stoul(field.back())));
    INFO("without " << field.to_string());
    look_at(changed, g, seen);
  }
  return seen;
}

}  // namespace

TEST_CASE("a grid without its axis is refused") {
  const Graph g = tiny::tiny_graph(2);
  Json program = Json::parse(to_json(made(g)));
  program["grids"][0]["axes"] = program["grids"][0]["strides"] = Json::array();
  CHECK(to_string(program_from_json(program.dump(), g).diagnostics) ==
        "the program is damaged; axes[1]: its grid has no such axis\n"
        "the program is damaged; axes[2]: its grid has no such axis\n");
}

TEST_CASE("whatever stands in a field of a program, it is refused or verified") {
  const Seen seen = look_at_fields(29);
  CHECK(seen.refused > 100);
  CHECK(seen.verified > 10);
}

TEST_CASE("whatever stands in any field of a program, it is refused or verified", "[slow]") {
  const Seen seen = look_at_fields(1);
  CHECK(seen.refused > 4000);
  CHECK(seen.verified > 300);
}
