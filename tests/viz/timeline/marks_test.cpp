// Which blocks are marked, which are found by a name, and the way to them.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/timeline/interaction.h"
#include "viz/timeline/marks.h"
#include "viz/timeline/search.h"

using namespace planscope::viz;

namespace {

// Details: 0 forward computes operators 1 and 2, 1 backward the same, 2 sends tensor 7.
TimelineModel sample() {
  TimelineModel m = pipeline_timeline(4, 8);
  m.details[0].operators = m.details[1].operators = {1, 2};
  m.details[0].task = "f(S[0])";
  m.details[2].tensors = {7};
  m.details[2].communicators = {"send over a → b"};
  return m;
}

int count(const TimelineModel& m, const std::vector<std::string>& ids) {
  const MarkedBlocks marked = marked_blocks(m, parse_timeline_marks(ids));
  int out = 0;
  for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l) {
    const std::vector<Stream>& streams = m.lanes[static_cast<std::size_t>(l)].streams;
    for (int s = 0; s < static_cast<int>(streams.size()); ++s)
      out += marked_within(marked, l, s, 0, static_cast<int>(streams[static_cast<std::size_t>(s)].blocks.size()));
  }
  return out;
}

}  // namespace

TEST_CASE("blocks that compute are marked by operators, those that communicate by tensors and communicators") {
  const TimelineModel m = sample();
  CHECK(count(m, {}) == 0);
  CHECK(count(m, {"operator 2"}) == 4 * 8 * 2);
  CHECK(count(m, {"operator 3", "tensor 1"}) == 0);
  CHECK(count(m, {"operator 2", "lane stage 1"}) == 8 * 2);
  CHECK(count(m, {"tensor 7"}) == 3 * 8 * 2);
  CHECK(count(m, {"communicator send over a → b", "lane stage 0"}) == 8);
  CHECK(count(m, {"operator x", "operator 99999999999", "nonsense", "time 5"}) == 0);
}

TEST_CASE("one block is chosen by its lane, stream and times") {
  const TimelineModel m = sample();
  const Block& b = m.lanes[2].streams[0].blocks[3];
  char time[60];
  std::snprintf(time, sizeof time, "time %.3f %.3f", b.start.value, b.end().value);
  CHECK(count(m, {time, "within stage 2", "stream compute"}) == 1);
  CHECK(chosen_block(m, parse_timeline_marks({time, "within stage 2", "stream compute"})) == BlockRef{2, 0, 3});
  CHECK(chosen_block(m, parse_timeline_marks({time, "within stage 2", "stream network"})) == std::nullopt);
  CHECK(count(m, {time, "within stage 2"}) == 0);
}

TEST_CASE("blocks are found by label, task, title, and what is named by number, in order of time") {
  const TimelineModel m = sample();
  CHECK(find_blocks(m, "", {}).empty());
  CHECK(find_blocks(m, "nothing", {}).empty());
  const std::vector<BlockRef> third = find_blocks(m, "B3", {});
  REQUIRE(third.size() == 4);
  CHECK(third.front().lane == 3);  // backward begins in the last stage
  CHECK(third.back().lane == 0);
  CHECK(find_blocks(m, "f(s", {}).size() == 32);
  CHECK(find_blocks(m, "over A", {}).size() == 48);
  CHECK(find_blocks(m, "some name", {{1}, {}}).size() == 64);
  CHECK(find_blocks(m, "some name", {{}, {7}}).size() == 48);
  const std::vector<BlockRef> all = find_blocks(m, "forward", {});
  const auto earlier = [&](const BlockRef& a, const BlockRef& b) { return m.at(a).start < m.at(b).start; };
  CHECK(std::is_sorted(all.begin(), all.end(), earlier));
}

TEST_CASE("all that a search has found is marked, and nothing else") {
  const TimelineModel m = sample();
  const TimelineMarks marks = parse_timeline_marks({"find b3", "found_operator 5", "found_tensor 7", "found_tensor x"});
  CHECK(marks.find == "b3");
  CHECK(marks.found_operators == std::set<int>{5});
  CHECK(marks.found_tensors == std::set<int>{7});
  const std::vector<BlockRef> third = find_blocks(m, "b3", {});
  const MarkedBlocks found = these_blocks(m, third);
  int all = 0;
  for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l) {
    const std::vector<Stream>& streams = m.lanes[static_cast<std::size_t>(l)].streams;
    for (int s = 0; s < static_cast<int>(streams.size()); ++s)
      all += marked_within(found, l, s, 0, static_cast<int>(streams[static_cast<std::size_t>(s)].blocks.size()));
  }
  CHECK(all == 4);
  for (const BlockRef& r : third) CHECK(is_marked(found, r));
  CHECK_FALSE(is_marked(found, {0, 0, 0}));
}

TEST_CASE("the next block follows the one that is looked at, around the end") {
  const TimelineModel m = sample();
  const std::vector<BlockRef> all = find_blocks(m, "b3", {});
  CHECK(next_block(m, all, std::nullopt, true) == 0);
  CHECK(next_block(m, all, std::nullopt, false) == 3);
  CHECK(next_block(m, all, all[0], true) == 1);
  CHECK(next_block(m, all, all[3], true) == 0);
  CHECK(next_block(m, all, all[0], false) == 3);
  CHECK(next_block(m, all, all[2], false) == 1);
  CHECK(next_block(m, all, BlockRef{0, 0, 0}, true) == 0);
}

TEST_CASE("the view goes to a block: it is in sight, and wide enough to be read") {
  TimelineModel m = sample();
  const Rect area{0, 0, 900, 160};
  for (const BlockRef& ref : {BlockRef{3, 0, 4}, BlockRef{0, 0, 0}, BlockRef{2, 1, 15}}) {
    const TimelineView v = show_block(fit({}, m), m, ref);
    const TimelineLayout l = lay_out(m, v, area);
    const Block& b = m.at(ref);
    const double left = l.scale.to_x(b.start).value, right = l.scale.to_x(b.end()).value;
    CHECK(left >= l.body.x - 0.01);
    CHECK(right <= l.body.right() + 0.01);
    CHECK(right - left >= 15);
    const Rect& row = l.lanes[static_cast<std::size_t>(ref.lane)].streams[static_cast<std::size_t>(ref.stream)];
    CHECK(in_sight(m, l, ref.lane, row.y));
  }
  m.lanes[0].pinned = true;  // which keeps its place above the lane that is gone to
  const TimelineView v = show_block(fit({}, m), m, BlockRef{3, 0, 4});
  const TimelineLayout l = lay_out(m, v, area);
  CHECK(in_sight(m, l, 0, l.lanes[0].label.y));
  CHECK(in_sight(m, l, 3, l.lanes[3].label.y));
}
