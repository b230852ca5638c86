#include "planner/search/layout/case_file.h"

#include <catch2/catch.hpp>
#include <random>

#include "planner/search/layout/solve.h"

namespace planscope::layouts {
namespace {

const std::string small = R"({"name": "two", "memory_limit": 120,
 "kinds": [{"cost": [1, 2.5], "memory": [80, 40]}, {"cost": [3], "memory": [10]}],
 "pairs": [[[0], [1]], [[0, 2], [2, 0]]], "nodes": [0, 1, 0], "edges": [[0, 1, 0], [0, 2, 1]]})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = small;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string told(const std::string& text) {
  const Result<CostNetwork> r = parse_case(text, "c.json");
  CHECK((r.ok() || r.has_errors()));
  return r.ok() ? "" : to_string(r.diagnostics);
}

TEST_CASE("a case is read") {
  const Result<CostNetwork> r = parse_case(small, "c.json");
  REQUIRE(r.ok());
  CHECK(r->limits == std::vector<std::int64_t>{120});
  CHECK(r->kinds[0] == Kind{{1, 2.5}, {{80, 40}}});
  CHECK(r->pairs[0] == Matrix{2, 1, {0, 1}});
  CHECK(r->edges[1] == Edge{0, 2, 1});
}

TEST_CASE("several memory rows are lists") {
  const Result<CostNetwork> r = parse_case(
      R"({"memory_limit": [5, 6], "kinds": [{"cost": [1], "memory": [[2], [3.0]]}], "pairs": [], "nodes": [0], "edges": []})",
      "c.json");
  REQUIRE(r.ok());
  CHECK(r->kinds[0].memory == std::vector<std::vector<std::int64_t>>{{2}, {3}});
}

TEST_CASE("what is wrong is told with its place") {
  CHECK(told("{") == "c.json:1: this is not JSON; a syntax error near byte 2\n");
  CHECK(told("[]") == "c.json: the case is not a JSON object\n");
  CHECK(told(with("\"pairs\"", "\"pears\"")) == "c.json: field 'pairs' is missing\n");
  CHECK(told(with("[1, 2.5]", "[1, \"a\"]")) == "c.json: 'kinds[0].cost[1]' is not a number\n");
  CHECK(told(with("[80, 40]", "[80, 40.5]")) == "c.json: 'kinds[0].memory[1]' is not a whole number\n");
  CHECK(told(with("[80, 40]", "[80]")) == "c.json: kinds[0]: memory of 1 strategies; it has costs of 2\n");
  CHECK(told(with("[80, 40]", "[80, -40]")) == "c.json: kinds[0]: memory -40; it must be 0 to 2^53\n");
  CHECK(told(with("[[0, 2], [2, 0]]", "[[0, 2], [2]]")) == "c.json: 'pairs[1][1]' has 1 costs, the rows above 2\n");
  CHECK(told(with("[0, 2, 1]", "[0, 2, 0]")) ==
        "c.json: edges[1]: pairs[0] is 2 by 1; its nodes have 2 and 2 strategies\n");
  CHECK(told(with("[0, 2, 1]", "[0, 3, 1]")) == "c.json: edges[1]: no node 3; there are 0 to 2\n");
  CHECK(told(with("[0, 2, 1]", "[0, 2, 9]")) == "c.json: edges[1]: no pair 9; there are 0 to 1\n");
  CHECK(told(with("[0, 2, 1]", "[2, 2, 1]")) == "c.json: edges[1]: it joins node 2 with itself\n");
  CHECK(told(with("[0, 2, 1]", "[0, 2]")) == "c.json: 'edges[1]' is not a list [from, to, pair]\n");
  CHECK(told(with("[0, 1, 0]", "[0, 5, 0]")) == "c.json: nodes[1]: no kind 5; there are 0 to 1\n");
  CHECK(told(with("120", "-1")) == "c.json: memory limit: -1 is negative\n");
  CHECK(told(with("[1, 2.5]", "[]")) ==
        "c.json: kinds[0]: it has no strategy\nc.json: kinds[0]: memory of 2 strategies; it has costs of 0\n");
  CHECK(told(with("[1, 2.5]", "[1, 1e300]")) == "c.json: kinds[0]: a cost is beyond 1e15\n");
  CHECK(read_case("no such file").has_errors());
}

TEST_CASE("damaged cases are refused or solved, never a crash") {
  std::mt19937 random(8);
  int read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = small;
    for (int k = 0; k <= round % 3; ++k) {
      const std::size_t at = random() % text.size();
      const std::string characters = "0123456789[]{},.\"e- ";
      const char c = characters[random() % characters.size()];
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2)
        text.insert(at, 1, c);
      else
        text[at] = c;
      if (text.empty()) text = "x";
    }
    const Result<CostNetwork> r = parse_case(text, "c.json");
    REQUIRE((r.ok() || r.has_errors()));
    if (!r.ok()) continue;
    ++read;
    const Answer a = Solver(*r).solve({});
    CAPTURE(text);
    REQUIRE((a.certificate ? check(*r, {}, *a.certificate).ok : check(*r, {}, *a.impossibility).ok));
  }
  CHECK(read > 100);
}

}  // namespace
}  // namespace planscope::layouts
