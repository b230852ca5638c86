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

TEST_CASE("columns of a memory curve cover it once, and show every peak, however narrow") {
  std::mt19937 random(3);
  for (const int count : {1, 3, 200, 10000}) {
    TimelineModel model;
    model.lanes.resize(1);
    std::vector<MemoryStep>& steps = model.lanes[0].memory;
    for (int i = 0; i < count; ++i) steps.push_back({Microseconds{10000.0 * i / count}, Bytes{static_cast<double>(random() % 1000)}});
    steps[static_cast<std::size_t>(count / 2)].bytes.value = 9000;
    const TimeScale scale{{Microseconds{0}, Microseconds{10000}}, Pixels{50}, Pixels{200}};
    const std::vector<MemoryColumn> columns = memory_columns(model.lanes[0], build_index(model).memory[0], scale, Pixels{2});
    CHECK(columns.size() <= 200);
    REQUIRE_FALSE(columns.empty());
    double x = 50;
    bool peak = false;
    for (const MemoryColumn& c : columns) {
      REQUIRE(c.x == Approx(x));
      x = c.x + c.width;
      peak = peak || steps[static_cast<std::size_t>(c.step)].bytes.value == 9000;
      const double begins = scale.to_x(steps[static_cast<std::size_t>(c.step)].at).value;
      REQUIRE(begins <= x + 1);  // it holds there
    }
    // Every step is in a column that shows at least as much, to a pixel.
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double at = scale.to_x(steps[i].at).value;
      REQUIRE(std::any_of(columns.begin(), columns.end(), [&](const MemoryColumn& c) {
        return at >= c.x - 1 && at <= c.x + c.width + 1 && steps[i].bytes <= steps[static_cast<std::size_t>(c.step)].bytes;
      }));
    }
    CHECK(x == Approx(250));
    CHECK(peak);
  }
}

TEST_CASE("folded runs keep the share of every kind, whatever their blocks are") {
  for (const double most : {0.01, 0.2, 1.0, 20.0}) {
    Stream stream{"compute", StreamKind::compute, {}};
    std::mt19937 random(8);
    double t = 0;
    for (int i = 0; i < 5000; ++i) {
      const double d = most * (1 + random() % 5) / 5;
      stream.blocks.push_back({Microseconds{t}, Microseconds{d}, static_cast<BlockKind>(random() % block_kinds), -1, i, ""});
      t += d;
    }
    const TimelineModel model = model_of(stream);
    const TimelineIndex index = build_index(model);
    std::array<double, block_kinds> drawn{}, real{};
    for (const Block& b : stream.blocks) real[static_cast<std::size_t>(b.kind)] += b.duration.value;
    const TimeScale scale{{Microseconds{0}, model.duration}, Pixels{0}, Pixels{900}};
    for (const Span& s : visible_spans(stream, index.streams[0][0], scale, Pixels{3})) {
      const double length = scale.to_duration(Pixels{s.width}).value;
      if (s.last - s.first == 1) drawn[static_cast<std::size_t>(s.kind)] += length;
      for (int k = 0; k < block_kinds; ++k) drawn[static_cast<std::size_t>(k)] += s.share[static_cast<std::size_t>(k)] * length;
    }
    for (int k = 0; k < block_kinds; ++k) CHECK(drawn[static_cast<std::size_t>(k)] == Approx(real[static_cast<std::size_t>(k)]));
  }
}

TEST_CASE("a folded lane shows its work alone, a pinned one stays in sight and covers what is scrolled below it") {
  TimelineModel model = pipeline_timeline(6, 8);
  model.lanes[0].pinned = true;
  model.lanes[1].folded = true;
  TimelineView view;
  view.range = {Microseconds{0}, model.duration};
  const TimelineLayout still = lay_out(model, view, area);
  CHECK(still.lanes[1].memory.empty());
  CHECK(still.lanes[1].streams[1].empty());
  CHECK(still.lanes[1].label.height < still.lanes[2].label.height);
  view.scroll = 100;
  const TimelineLayout moved = lay_out(model, view, area);
  CHECK(moved.lanes[0].label == still.lanes[0].label);
  CHECK(moved.lanes[2].label.y == still.lanes[2].label.y - 100);
  CHECK(moved.scrolled.y >= moved.lanes[0].label.bottom());
  const Point over{500, moved.lanes[0].streams[0].y + 4};
  REQUIRE(hit_test(model, moved, over));
  CHECK(hit_test(model, moved, over)->lane == 0);
  CHECK(lane_at(model, moved, {20, moved.lanes[0].label.y + 5}) == 0);
}

TEST_CASE("times snap to the edges of blocks and to the peak of memory") {
  TimelineModel model = pipeline_timeline(2, 4);
  model.lanes[0].peak_at = Microseconds{30000};
  TimelineView view;
  view.range = {Microseconds{0}, model.duration};
  const TimelineLayout layout = lay_out(model, view, area);
  const Block& block = model.lanes[0].streams[0].blocks[1];
  const double x = layout.scale.to_x(block.end()).value, y = layout.lanes[0].streams[0].y + 4;
  CHECK(snapped(model, layout, {x + 4, y}, Pixels{6}) == block.end());
  CHECK(snapped(model, layout, {x - 4, y}, Pixels{6}) == block.end());
  const double far = layout.scale.to_x(block.start + block.duration * 0.5).value;
  CHECK(snapped(model, layout, {far, y}, Pixels{2}).value == Approx(layout.scale.to_time(Pixels{far}).value));
  const double peak = layout.scale.to_x(Microseconds{30000}).value;
  CHECK(snapped(model, layout, {peak + 3, layout.lanes[0].memory.y + 5}, Pixels{6}) == Microseconds{30000});
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
