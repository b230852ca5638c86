#include "viz/timeline/model.h"

#include <catch2/catch.hpp>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/timeline/beside.h"
#include "viz/timeline/export.h"

using namespace planscope::viz;

namespace {

std::optional<int> index_of_label(const TimelineModel& model, int lane, const std::string& label) {
  const std::vector<Block>& blocks = model.lanes[lane].streams[0].blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].label == label) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("times and sizes are written with a unit that suits them") {
  CHECK(format_time(Microseconds{412600}) == "412.6 ms");
  CHECK(format_time(Microseconds{1.5}) == "1.5 µs");
  CHECK(format_time(Microseconds{3250000}) == "3.25 s");
  CHECK(format_time(Microseconds{0}) == "0");
  CHECK(format_bytes(Bytes{448.0 * 1024 * 1024}) == "448 MiB");
  CHECK(format_bytes(Bytes{12}) == "12 B");
}

TEST_CASE("a well-formed timeline has no problem, a broken one is told") {
  TimelineModel model = pipeline_timeline(4, 8);
  CHECK(first_problem(model).empty());
  CHECK(model.duration.value >=
        11 * 30000 + 2 * 3 * 1000 + 4000);  // (p - 1 + m)(f + b), the sends on the way, the update
  TimelineModel overlapping = model;
  overlapping.lanes[1].streams[0].blocks[3].start.value -= 5;
  CHECK(first_problem(overlapping) == "stage 1, compute: block 3 begins before block 2 ends");
  TimelineModel late = model;
  late.duration.value -= 1000;
  CHECK(first_problem(late) == "stage 0, compute: block 23 ends behind the timeline");
  TimelineModel memory = model;
  memory.lanes[2].memory[1].kinds[3] = Bytes{5};
  CHECK(first_problem(memory) == "stage 2: the kinds of memory step 1 do not sum to it");
}

TEST_CASE("a block is found again in the next version of a timeline") {
  const TimelineModel before = pipeline_timeline(4, 4), now = pipeline_timeline(4, 8);
  const BlockRef b2{1, 0, *index_of_label(before, 1, "b2")};
  const auto again = find_again(before, b2, now);
  REQUIRE(again);
  CHECK(now.at(*again).label == "b2");
  CHECK(again->lane == 1);
  CHECK_FALSE(find_again(now, {1, 0, *index_of_label(now, 1, "b7")}, before));
}

TEST_CASE("a report picture has every block, the legend and the title") {
  const std::string svg = to_svg(pipeline_timeline(2, 2), {800, "two stages"});
  for (const char* text :
       {">f0<", ">b1<", ">stage 1<", ">16 devices<", ">two stages<", ">idle: warm-up<", ">peak 38 GiB<", ">memory of a device<"}) {
    INFO(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(svg == to_svg(pipeline_timeline(2, 2), {800, "two stages"}));
}

TEST_CASE("timelines beside each other keep their rules, their names and their proportions") {
  const TimelineModel a = pipeline_timeline(2, 4), b = pipeline_timeline(4, 8);
  for (const Alignment alignment : {Alignment::time, Alignment::share}) {
    const TimelineModel both = beside({{"a", &a}, {"b", &b}}, alignment);
    CHECK(first_problem(both) == "");
    CHECK(both.compared);
    REQUIRE(both.lanes.size() == 6);
    CHECK(both.lanes[0].name == "a · stage 0");
    CHECK(both.duration == b.duration);
    const double by = alignment == Alignment::share ? b.duration / a.duration : 1;
    CHECK(both.lanes[0].streams[0].blocks.back().end().value == Approx(a.duration.value * by));
    CHECK(both.lanes[2].streams[0].blocks.back().end() == b.duration);
    const Block& last = both.lanes[5].streams[0].blocks.back();
    CHECK(both.details[static_cast<std::size_t>(last.instruction)].subtitle == "b");
  }
}
