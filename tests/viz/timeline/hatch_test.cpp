// Kinds of memory and causes of idle time differ without their colours, in the picture and in the legend.
#include <catch2/catch.hpp>
#include <set>

#include "tests/viz/timeline/sample_timeline.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/hatch_runs.h"
#include "viz/timeline/interaction.h"

using namespace planscope::viz;

namespace {

std::set<Hatch> hatches(const Canvas& canvas) {
  std::set<Hatch> out;
  for (const Shape& shape : canvas.list())
    if (const auto* hatch = std::get_if<HatchShape>(&shape)) out.insert(hatch->pattern);
  return out;
}

// One lane that uses every kind of memory for the whole step.
TimelineModel with_memory() {
  TimelineModel m;
  m.lanes = {{"one", 1, {{"compute", StreamKind::compute, {}}}, {{Microseconds{0}, Bytes{5e9}}}, Bytes{}}};
  m.lanes[0].memory[0].kinds.fill(Bytes{1e9});
  m.duration = Microseconds{1000};
  return m;
}

}  // namespace

TEST_CASE("every kind of memory has a hatch of its own, in the curve and in the legend") {
  std::set<Hatch> all;
  for (int k = 0; k < memory_kinds; ++k) all.insert(hatch_of(static_cast<MemoryKind>(k)));
  REQUIRE(all.size() == memory_kinds);
  const TimelineModel m = with_memory();
  const TimelineIndex index = build_index(m);
  Canvas picture, legend;
  draw_timeline(picture, m, index, fit({}, m), {0, 0, 800, 400}, light_theme());
  draw_legend(legend, index, {0, 0, 800, 60}, light_theme());
  CHECK(hatches(picture) == all);
  CHECK(hatches(legend) == all);
}

TEST_CASE("kinds of work differ without their colours: single, folded and in the legend") {
  const std::vector<BlockKind> kinds = {BlockKind::forward, BlockKind::backward, BlockKind::weight, BlockKind::update, BlockKind::communication};
  std::set<Hatch> wanted;
  for (const BlockKind k : kinds)
    if (is_hatched(k)) wanted.insert(hatch_of(k));
  REQUIRE(wanted.size() == kinds.size() - 1);
  for (const int blocks : {5, 40'000}) {
    TimelineModel m;
    m.lanes = {{"one", 1, {{"compute", StreamKind::compute, {}}}, {}, Bytes{}}};
    for (int k = 0; k < blocks; ++k)  // of many, each kind fills a part of its own
      m.lanes[0].streams[0].blocks.push_back({Microseconds{1.0 * k}, Microseconds{1}, kinds[static_cast<std::size_t>(k * 5 / blocks)], -1, -1, ""});
    m.duration = Microseconds{1.0 * blocks};
    const TimelineIndex index = build_index(m);
    Canvas picture, legend;
    draw_timeline(picture, m, index, fit({}, m), {0, 0, 800, 400}, light_theme());
    draw_legend(legend, index, {0, 0, 800, 60}, light_theme());
    INFO(blocks);
    CHECK(hatches(picture) == wanted);
    CHECK(hatches(legend) == wanted);
  }
}

TEST_CASE("idle time that is folded has the hatch of its cause") {
  TimelineModel m;
  m.lanes = {{"one", 1, {{"compute", StreamKind::compute, {}}}, {}, Bytes{}}};
  for (int k = 0; k < 8000; ++k)
    m.lanes[0].streams[0].blocks.push_back(
        {Microseconds{1.0 * k}, Microseconds{1}, k % 2 ? BlockKind::idle_data : BlockKind::idle_memory, -1, -1, ""});
  m.duration = Microseconds{8000};
  Canvas picture;
  draw_timeline(picture, m, build_index(m), fit({}, m), {0, 0, 800, 400}, light_theme());
  CHECK(hatches(picture) == std::set<Hatch>{hatch_of(BlockKind::idle_data), hatch_of(BlockKind::idle_memory)});
}

TEST_CASE("columns of about one height get one hatch, which lies within all of them") {
  Canvas canvas;
  HatchRuns runs(canvas, rgb(0), Hatch::falling);
  runs.add({0, 10, 3, 20});
  runs.add({3, 12, 3, 18});
  runs.add({6, 25, 3, 5});    // much lower
  runs.add({30, 10, 3, 20});  // somewhere else
  runs.add({33, 29, 3, 1});   // too low to be hatched
  runs.end();
  std::vector<Rect> drawn;
  for (const Shape& shape : canvas.list()) drawn.push_back(std::get<HatchShape>(shape).rect);
  CHECK(drawn == std::vector<Rect>{{0, 12, 6, 18}, {6, 25, 3, 5}, {30, 10, 3, 20}});
}
