#include "viz/timeline/layout.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "tests/viz/timeline/sample_timeline.h"

using namespace planscope::viz;

namespace {

constexpr Rect area{0, 0, 1000, 500};

Stream random_stream(int count, unsigned seed) {
  std::mt19937 random(seed);
  Stream stream{"compute", StreamKind::compute, {}};
  double t = 0;
  for (int i = 0; i < count; ++i) {
    if (random() % 3 == 0) t += random() % 40;
    const double d = random() % 17 == 0 ? 300 : 1 + random() % 9;
    stream.blocks.push_back(
        {Microseconds{t}, Microseconds{d}, static_cast<BlockKind>(random() % block_kinds), -1, i, ""});
    t += d;
  }
  return stream;
}

TimelineModel model_of(Stream stream) {
  TimelineModel m;
  m.duration = stream.blocks.back().end();
  m.lanes.push_back({"lane", 1, {std::move(stream)}, {}, {}});
  return m;
}

}  // namespace

TEST_CASE("lanes lie below each other and do not overlap") {
  const TimelineModel model = pipeline_timeline(3, 4);
  TimelineView view;
  view.range = {Microseconds{0}, model.duration};
  const TimelineLayout layout = lay_out(model, view, area);
  REQUIRE(layout.lanes.size() == 3);
  double bottom = layout.ruler.bottom();
  for (const LaneLayout& lane : layout.lanes) {
    for (const Rect& r : lane.streams) {
      CHECK(r.y >= bottom);
      bottom = r.bottom();
    }
    CHECK(lane.memory.y >= bottom);
    bottom = lane.memory.bottom();
    CHECK(lane.label.bottom() >= bottom);
  }
  CHECK(natural_height(model, true) >= bottom);
  CHECK(natural_height(model, false) < natural_height(model, true));
}

TEST_CASE("ticks are round numbers in one unit and keep their distance") {
  const TimeScale scale{{Microseconds{-100}, Microseconds{412600}}, Pixels{96}, Pixels{900}};
  const std::vector<Tick> t = ticks(scale, Pixels{90});
  REQUIRE(t.size() == 9);
  CHECK(t[0].label == "0 ms");
  CHECK(t[1].label == "50 ms");
  CHECK(t[8].label == "400 ms");
  const std::vector<Tick> fine =
      ticks({{Microseconds{1000.1}, Microseconds{1000.5}}, Pixels{0}, Pixels{400}}, Pixels{90});
  REQUIRE(fine.size() == 5);
  CHECK(fine[1].label == "1.0002 ms");
  for (double length = 1e-3; length < 1e9; length *= 1.7) {
    const TimeScale s{{Microseconds{0}, Microseconds{length}}, Pixels{0}, Pixels{900}};
    const std::vector<Tick> all = ticks(s, Pixels{90});
    CHECK(all.size() >= 4);
    for (std::size_t i = 1; i < all.size(); ++i) CHECK(s.to_width(all[i].at - all[i - 1].at).value >= 89.99);
  }
}

TEST_CASE("spans hold every visible block once, in order, and fold only narrow ones") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Stream stream = random_stream(3000, seed);
    const TimelineModel model = model_of(stream);
    const TimelineIndex index = build_index(model);
    const double end = model.duration.value;
    for (const TimeRange range :
         {TimeRange{Microseconds{0}, Microseconds{end}}, TimeRange{Microseconds{end * 0.3}, Microseconds{end * 0.31}},
          TimeRange{Microseconds{end * 0.5}, Microseconds{end * 0.9}}}) {
      const TimeScale scale{range, Pixels{100}, Pixels{800}};
      const std::vector<Span> spans = visible_spans(stream, index.streams[0][0], scale, Pixels{3});
      CHECK(spans.size() <= 800);
      REQUIRE_FALSE(spans.empty());
      for (std::size_t i = 0; i < spans.size(); ++i) {
        const Span& s = spans[i];
        REQUIRE(s.first < s.last);
        if (i > 0) REQUIRE(s.first == spans[i - 1].last);
        if (s.last - s.first > 1) REQUIRE(s.width <= 6 + 1e-6);
        REQUIRE(s.x == Approx(scale.to_x(stream.blocks[s.first].start).value));
      }
      const auto visible = [&](const Block& b) { return b.end() > range.begin && b.start < range.end; };
      for (int b = 0; b < static_cast<int>(stream.blocks.size()); ++b) {
        REQUIRE(visible(stream.blocks[b]) == (b >= spans.front().first && b < spans.back().last));
      }
    }
  }
}

TEST_CASE("a folded run has the kind and the work that a plain sum gives") {
  const Stream stream = random_stream(500, 3);
  const TimelineIndex index = build_index(model_of(stream));
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const int first = static_cast<int>(random() % 499), last = first + 1 + static_cast<int>(random() % (500 - first));
    double work = 0, best = 0;
    std::array<double, block_kinds> time{};
    for (int i = first; i < last; ++i) {
      time[static_cast<int>(stream.blocks[i].kind)] += stream.blocks[i].duration.value;
      if (!is_idle(stream.blocks[i].kind)) work += stream.blocks[i].duration.value;
    }
    const Mixture m = mixture(stream, index.streams[0][0], first, last);
    CHECK(m.work.value == Approx(work));
    for (int k = 0; k < block_kinds; ++k) {
      if (work == 0 || !is_idle(static_cast<BlockKind>(k))) best = std::max(best, time[k]);
    }
    CHECK(time[static_cast<int>(m.kind)] == Approx(best));
  }
}

TEST_CASE("least and greatest bytes are those of a plain search") {
  std::mt19937 random(11);
  for (const int count : {1, 15, 16, 17, 255, 256, 257, 5000}) {
    TimelineModel model;
    model.lanes.resize(1);
    for (int i = 0; i < count; ++i)
      model.lanes[0].memory.push_back({Microseconds{double(i)}, Bytes{double(random() % 100000)}});
    const TimelineIndex index = build_index(model);
    for (int round = 0; round < 300; ++round) {
      const int first = static_cast<int>(random() % count),
                last = first + 1 + static_cast<int>(random() % (count - first));
      double least = 1e18, greatest = -1;
      for (int i = first; i < last; ++i) {
        least = std::min(least, model.lanes[0].memory[i].bytes.value);
        greatest = std::max(greatest, model.lanes[0].memory[i].bytes.value);
      }
      const ByteRange r = byte_range(model.lanes[0].memory, index.memory[0], first, last);
      REQUIRE(r.least == least);
      REQUIRE(r.greatest == greatest);
    }
  }
}

TEST_CASE("a memory curve reaches every peak, however narrow") {
  TimelineModel model;
  model.lanes.resize(1);
  for (int i = 0; i < 10000; ++i)
    model.lanes[0].memory.push_back({Microseconds{double(i)}, Bytes{i == 5555 ? 9000.0 : i % 2 * 10.0}});
  const std::vector<MemoryPoint> curve = memory_curve(model.lanes[0], build_index(model).memory[0],
                                                      {{Microseconds{0}, Microseconds{10000}}, Pixels{0}, Pixels{200}});
  CHECK(curve.size() < 200 * 5);
  CHECK(std::count_if(curve.begin(), curve.end(), [](const MemoryPoint& p) { return p.bytes == 9000; }) == 1);
  for (std::size_t i = 1; i < curve.size(); ++i) REQUIRE(curve[i].x >= curve[i - 1].x);
}

TEST_CASE("what is drawn is what is hit") {
  const TimelineModel model = pipeline_timeline(4, 8);
  TimelineView view;
  view.range = {Microseconds{0}, model.duration};
  const TimelineLayout layout = lay_out(model, view, area);
  for (int l = 0; l < 4; ++l) {
    const std::vector<Block>& blocks = model.lanes[l].streams[0].blocks;
    for (int b = 0; b < static_cast<int>(blocks.size()); ++b) {
      const double x = layout.scale.to_x(blocks[b].start + blocks[b].duration * 0.5).value,
                   y = layout.lanes[l].streams[0].y + 5;
      CHECK(hit_test(model, layout, {x, y}) == BlockRef{l, 0, b});
    }
    CHECK_FALSE(hit_test(model, layout, {500, layout.lanes[l].memory.y + 3}));
  }
  CHECK_FALSE(hit_test(model, layout, {5, layout.lanes[0].streams[0].y + 5}));
}
