// Chrome traces as timelines: whole ones, those that end in the middle, and files that are broken.
#include "app/workbench/chrome_trace.h"

#include <catch2/catch.hpp>

#include "tests/app/workbench/sample.h"

using namespace planscope;

namespace {

ChromeTrace good(const std::string& text) {
  Result<ChromeTrace> r = read_chrome_trace(text, "t.json");
  INFO(to_string(r.diagnostics));
  REQUIRE(r.value);
  CHECK(viz::first_problem(r->timeline).empty());
  return std::move(*r.value);
}

std::string refusal(const std::string& text) {
  const Result<ChromeTrace> r = read_chrome_trace(text, "t.json");
  CHECK_FALSE(r.value);
  return to_string(r.diagnostics);
}

const std::string kEvents = R"(
  {"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "rank 0"}},
  {"ph": "M", "pid": 7, "tid": 2, "name": "thread_name", "args": {"name": "compute"}},
  {"ph": "X", "pid": 7, "tid": 2, "ts": 1000.5, "dur": 10, "name": "f0", "cat": "forward"},
  {"ph": "X", "pid": 7, "tid": 2, "ts": 1002, "dur": 3, "name": "inner"},
  {"ph": "X", "pid": 7, "tid": 2, "ts": 1020, "dur": 5, "name": "b0", "cat": "backward", "args": {"deep": [{"ph": "X"}]}},
  {"ph": "X", "pid": 7, "tid": "nccl", "ts": 1011, "dur": 4, "name": "ncclDevKernel_AllReduce"},
  {"ph": "i", "pid": 7, "ts": 1000, "name": "instant"},
  {"ph": "C", "pid": 7, "ts": 1010.5, "name": "memory", "args": {"bytes": 4096}})";

}  // namespace

TEST_CASE("complete events are blocks, by process and thread") {
  for (const std::string& text :
       {"[" + kEvents + "]", "{\"otherData\": {\"x\": [1, {\"ph\": \"X\"}]}, \"traceEvents\": [" + kEvents + "]}"}) {
    const ChromeTrace t = good(text);
    CHECK(t.events == 4);
    CHECK(t.left_out == 1);  // what f0 consists of
    REQUIRE(t.timeline.lanes.size() == 1);
    const viz::Lane& lane = t.timeline.lanes[0];
    CHECK(lane.name == "rank 0");
    REQUIRE(lane.streams.size() == 2);
    CHECK(lane.streams[0].name == "compute");
    REQUIRE(lane.streams[0].blocks.size() == 2);
    CHECK(lane.streams[0].blocks[0].start.value == Approx(0));
    CHECK(lane.streams[0].blocks[1].start.value == Approx(19.5));
    CHECK(lane.streams[0].blocks[1].kind == viz::BlockKind::backward);
    CHECK(lane.streams[1].kind == viz::StreamKind::communication);
    CHECK(lane.streams[1].blocks[0].start.value == Approx(10.5));
    CHECK(t.timeline.duration.value == Approx(24.5));
    REQUIRE(lane.memory.size() == 1);
    CHECK(lane.memory[0].bytes.value == 4096);
  }
}

TEST_CASE("pairs of begin and end are events too, and rounding is no overlap") {
  const Result<ChromeTrace> r = read_chrome_trace(
      R"([{"ph":"X","pid":1,"tid":0,"name":"f","ts":1000.5,"dur":300},
          {"ph":"B","pid":1,"tid":0,"name":"gelu","ts":1400},{"ph":"B","pid":1,"tid":0,"name":"inner","ts":1410},
          {"ph":"E","pid":1,"tid":0,"ts":1420},{"ph":"E","pid":1,"tid":0,"ts":1500.25},
          {"ph":"X","pid":1,"tid":0,"name":"g","ts":1500.2499999,"dur":10},{"ph":"E","pid":1,"tid":0,"ts":1600},
          {"ph":"B","pid":2,"tid":0,"name":"never ends","ts":1000}])", "t.json");
  REQUIRE(r.value);
  CHECK(r->timeline.duration.value == Approx(509.75));
  const std::vector<viz::Block>& blocks = r->timeline.lanes.at(0).streams.at(0).blocks;
  REQUIRE(blocks.size() == 3);
  CHECK(blocks[1].start.value == Approx(399.5));
  CHECK(blocks[1].duration.value == Approx(100.25));
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].what == "2 events have a begin or an end alone");
}

TEST_CASE("a trace that ends in the middle is shown as far as it goes") {
  const Result<ChromeTrace> r = read_chrome_trace("[" + kEvents + ",\n{\"ph\": \"X\", \"ts\": 2000, \"du", "t.json");
  REQUIRE(r.value);
  CHECK(r->events == 4);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].severity == Severity::warning);
  CHECK(r.diagnostics[0].what == "the trace ends in the middle");
}

TEST_CASE("what is no trace is refused with the place") {
  CHECK(refusal("").find("it is no Chrome trace") != std::string::npos);
  CHECK(
      refusal("[\n{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}\n, nonsense]").starts_with("t.json:3: it is no Chrome trace"));
  CHECK(refusal("{\"a\": 1}").find("has no event that takes time") != std::string::npos);
  CHECK(refusal("[1, 2, [3], {\"ph\": 5}]").find("has no event that takes time") != std::string::npos);
  CHECK(refusal("[{\"ph\": \"X\", \"ts\": \"soon\", \"dur\": 2}]").find("has no event that takes time") != std::string::npos);
  CHECK(refusal(std::string(1'000'000, '[')).find("t.json") != std::string::npos);
  CHECK(refusal("\xff\xfe").find("it is no Chrome trace") != std::string::npos);
}

TEST_CASE("events that lie across each other are cut, and told") {
  const Result<ChromeTrace> r = read_chrome_trace(
      R"([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 10, "name": "a"}, {"ph": "X", "pid": 1, "tid": 1, "ts": 5, "dur": 10, "name": "b"}])",
      "t.json");
  REQUIRE(r.value);
  CHECK(viz::first_problem(r->timeline).empty());
  CHECK(r->timeline.lanes[0].streams[0].blocks[1].start.value == 10);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].what == "1 events begin before the one before them ends");
}
