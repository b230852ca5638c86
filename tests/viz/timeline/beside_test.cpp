// Timelines that are compared: on one axis, and one as a ghost over another.
#include "viz/timeline/beside.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/viz/timeline/sample_timeline.h"

using namespace planscope::viz;

namespace {

// All blocks take twice as long.
TimelineModel slower(TimelineModel m, double by) {
  m.duration = m.duration * by;
  for (Lane& l : m.lanes) {
    for (Stream& s : l.streams)
      for (Block& b : s.blocks) b.start = b.start * by, b.duration = b.duration * by;
    for (MemoryStep& step : l.memory) step.at = step.at * by;
  }
  for (PathPart& p : m.critical) p.start = p.start * by, p.duration = p.duration * by;
  return m;
}

std::map<std::string, double> starts(const Stream& s) {
  std::map<std::string, double> out;
  for (const Block& b : s.blocks)
    if (!is_idle(b.kind)) out[b.label] = b.start.value;
  return out;
}

}  // namespace

TEST_CASE("lanes of all timelines stand over each other in real time, or each as long as the longest") {
  const TimelineModel a = pipeline_timeline(2, 4), b = slower(a, 2);
  const TimelineModel real = beside({{"a", &a}, {"b", &b}}, Alignment::time);
  CHECK(first_problem(real).empty());
  REQUIRE(real.lanes.size() == 4);
  CHECK(real.lanes[0].name == "a · " + a.lanes[0].name);
  CHECK(real.lanes[3].name == "b · " + a.lanes[1].name);
  CHECK(real.duration == b.duration);
  CHECK(real.lanes[0].streams[0].blocks[1].start == a.lanes[0].streams[0].blocks[1].start);
  const TimelineModel share = beside({{"a", &a}, {"b", &b}}, Alignment::share);
  for (std::size_t k = 0; k < a.lanes[1].streams[0].blocks.size(); ++k)
    CHECK(share.lanes[1].streams[0].blocks[k].start.value == Approx(share.lanes[3].streams[0].blocks[k].start.value));
  CHECK(first_problem(share).empty());
}

TEST_CASE("by task, lanes of a stage stand together, and tasks lie where the first timeline has them") {
  const TimelineModel a = pipeline_timeline(3, 4), b = slower(a, 1.7);
  const TimelineModel m = beside({{"a", &a}, {"b", &b}}, Alignment::task);
  CHECK(first_problem(m).empty());
  REQUIRE(m.lanes.size() == 6);
  for (std::size_t stage = 0; stage < 3; ++stage) {
    CHECK(m.lanes[2 * stage].name == "a · " + a.lanes[stage].name);
    CHECK(m.lanes[2 * stage + 1].name == "b · " + a.lanes[stage].name);
    const auto of_a = starts(m.lanes[2 * stage].streams[0]), of_b = starts(m.lanes[2 * stage + 1].streams[0]);
    REQUIRE(of_a.size() == of_b.size());
    for (const auto& [label, start] : of_a) CHECK(of_b.at(label) == Approx(start));
  }
  for (const Link& l : m.links) CHECK((l.from.lane < 6 && l.to.lane < 6));
}

TEST_CASE("of tasks in another order, as many as can stay in line") {
  const auto lane = [](std::initializer_list<const char*> order) {
    TimelineModel m;
    m.lanes.push_back({"stage", 1, {Stream{"compute", StreamKind::compute, {}}}, {}, {}});
    double at = 0;
    for (const char* label : order) {
      m.lanes[0].streams[0].blocks.push_back({{at}, {10}, BlockKind::forward, 0, -1, label});
      at += 15;
    }
    m.duration = {at};
    return m;
  };
  const TimelineModel a = lane({"f0", "f1", "b0", "f2", "b1"}), b = lane({"f0", "f1", "f2", "b0", "b1"});
  const TimelineModel m = beside({{"a", &a}, {"b", &b}}, Alignment::task);
  CHECK(first_problem(m).empty());
  const auto of_a = starts(m.lanes[0].streams[0]), of_b = starts(m.lanes[1].streams[0]);
  int in_line = 0;
  for (const auto& [label, start] : of_a) in_line += of_b.at(label) == Approx(start);
  CHECK(in_line == 4);  // f2 and b0 have changed places: one of them has to leave the line
}

TEST_CASE("a ghost lies below the work of its lane, and says how far off each block is") {
  const TimelineModel a = pipeline_timeline(2, 3), b = slower(a, 1.25);
  const TimelineModel m = beside({{"plan", &a}, {"run:3", &b, 0}}, Alignment::time);
  CHECK(first_problem(m).empty());
  REQUIRE(m.lanes.size() == 2);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    REQUIRE(m.lanes[lane].streams.size() == a.lanes[lane].streams.size() + 1);
    const Stream& ghost = m.lanes[lane].streams[1];
    CHECK(ghost.name == "run:3");
    for (const Block& block : ghost.blocks) {
      CHECK_FALSE(is_idle(block.kind));
      REQUIRE(block.instruction >= 0);
      const BlockDetail& d = m.details[static_cast<std::size_t>(block.instruction)];
      CHECK(d.facts.back() == std::pair<std::string, std::string>{"difference", "+25.0 %"});
    }
  }
  // What pointed at streams of the plan still does.
  std::multiset<std::string> before, after;
  for (const Link& l : a.links) before.insert(a.at(l.from).label + ">" + a.at(l.to).label);
  for (const Link& l : m.links) after.insert(m.at(l.from).label + ">" + m.at(l.to).label);
  CHECK(before == after);
  CHECK(m.critical.size() == a.critical.size());
}

TEST_CASE("a ghost without a lane to lie over has its own") {
  const TimelineModel a = pipeline_timeline(2, 3), b = pipeline_timeline(3, 3);
  const TimelineModel m = beside({{"a", &a}, {"b", &b, 0}}, Alignment::time);
  CHECK(first_problem(m).empty());
  REQUIRE(m.lanes.size() == 3);
  CHECK(m.lanes[2].name == "b · " + b.lanes[2].name);
  CHECK(first_problem(beside({}, Alignment::task)).empty());
}
