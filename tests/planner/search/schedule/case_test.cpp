// Cases as text: what is read, and what is said of what cannot be.
#include <catch2/catch.hpp>

#include <random>

#include "planner/search/schedule/schedule.h"

using namespace planscope;
using namespace planscope::schedule;

namespace {

const std::string kCase = R"({"name": "v2", "devices": 2, "memory": 2, "micro_batches": 4,
  "blocks": [{"name": "f0", "devices": [0], "time": 1, "memory": 1}, {"name": "f1", "devices": [1], "time": 1, "memory": 1},
             {"name": "b1", "devices": [1], "time": 3, "memory": -1}, {"name": "b0", "devices": [0], "time": 3, "memory": -1}],
  "after": [[0, 1], [1, 2], [2, 3]]})";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

std::string said(const std::string& text) {
  const Result<Case> c = from_json(text, "c.json");
  return to_string(c.diagnostics);
}

}  // namespace

TEST_CASE("a case is read") {
  const Result<Case> c = from_json(kCase, "c.json");
  REQUIRE(c.ok());
  CHECK(c->devices == 2);
  CHECK(c->blocks[2].name == "b1");
  CHECK(c->blocks[2].memory == -1);
  CHECK(c->after.size() == 3);
  CHECK(c->memory[1] == 2);
}

TEST_CASE("memory by device, streams, delays and distances are read") {
  const Result<Case> c =
      from_json(replaced(replaced(replaced(kCase, "\"memory\": 2", "\"memory\": [2, null]"), "[1, 2]", "[1, 2, 5, 1]"),
                         "\"time\": 3, \"memory\": -1}]", "\"time\": 3, \"memory\": -1, \"stream\": \"side\"}]"),
                "c.json");
  REQUIRE(c.ok());
  CHECK(c->memory == std::vector<std::optional<std::int64_t>>{2, std::nullopt});
  CHECK(c->after[1] == Precedence{1, 2, 5, 1});
  CHECK(c->streams == std::vector<std::string>{"compute", "side"});
  CHECK(c->blocks[3].stream == 1);
}

TEST_CASE("what is wrong is said with its place") {
  CHECK(said("{").starts_with("c.json:1: this is not JSON; a syntax error near byte 2; "));
  CHECK(said("[]") == "c.json: the case is not a JSON object\n");
  CHECK(said(replaced(kCase, "\"devices\": 2", "\"devices\": 0")) ==
        "c.json: 'devices' is 0, outside 1 to 65536\n"
        "c.json: 'blocks[1].devices[0]' is 1, outside 0 to 0\nc.json: 'blocks[2].devices[0]' is 1, outside 0 to 0\n");
  CHECK(said(replaced(kCase, "\"time\": 1", "\"time\": -1")) ==
        "c.json: 'blocks[0].time' is -1, outside 0 to 1099511627776\n");
  CHECK(said(replaced(kCase, "\"time\": 1", "\"time\": 1.5")) == "c.json: 'blocks[0].time' is not a whole number\n");
  CHECK(said(replaced(kCase, "[0, 1]", "[0, 9]")) == "c.json: 'after[0][1]' is 9, outside 0 to 3\n");
  CHECK(
      said(replaced(kCase, "[0, 1]", "7")) ==
      "c.json: 'after[0]' is not a list [before, after], [before, after, delay] or [before, after, delay, distance]\n");
  CHECK(
      said(replaced(kCase, "\"memory\": 1}, ", "\"memroy\": 1}, ")) ==
      "c.json: warning: 'blocks[0]' has the field 'memroy', which is not read; did you mean 'memory'?\n"
      "c.json: device 0: a micro-batch leaves -1 units of memory behind; what its blocks take and what they give back "
      "must be equal; let a block of the device give back what is left, or leave out memory that stays\n");
  CHECK(
      said(replaced(kCase, "[2, 3]", "[2, 3], [3, 0]")) ==
      "c.json: the blocks of a micro-batch wait for each other, block 0 ('f0') among them; 'after' must have no cycle "
      "within a micro-batch\n");
}

TEST_CASE("damaged cases are refused or solved, never worse") {
  std::mt19937 random(3);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = kCase;
    for (int n = 0; n < 1 + i % 3; ++n) {
      const std::size_t where = random() % text.size();
      const char* put = "0123456789-[]{},:\"fnx";
      if (random() % 2)
        text[where] = put[random() % 21];
      else
        text.erase(where, 1 + random() % 4);
      if (text.empty()) text = "{";
    }
    const Result<Case> c = from_json(text, "c.json");
    CHECK(c.ok() != c.has_errors());
    if (!c.ok()) continue;
    ++read;
    if (c->blocks.size() < 20 && c->micro_batches[0] < 50 && c->devices < 20) {
      const Answer a = search(*c, {.seconds = 0.05});
      if (!a.timeline.start.empty()) CHECK(violation(a.problem, a.timeline).value_or("") == "");
    }
  }
  CHECK(read > 100);
}
