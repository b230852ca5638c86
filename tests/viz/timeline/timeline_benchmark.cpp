// How long a frame of a timeline with a million blocks and a million memory steps takes: recording the display list,
// and with Dear ImGui and the rasteriser; processor time, in which other programs do not count. Beside it: recording without folding, what the index saves.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "viz/canvas/imgui_host.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"

using namespace planscope::viz;

namespace {

MemoryStep stacked(Microseconds at, const std::array<double, memory_kinds>& bytes) {
  MemoryStep out{at, {}, {}};
  for (std::size_t k = 0; k < bytes.size(); ++k) out.kinds[k].value = bytes[k], out.bytes.value += bytes[k];
  return out;
}

TimelineModel large(int lanes, int blocks) {
  TimelineModel model;
  std::uint32_t random = 1;
  const auto next = [&](std::uint32_t n) {
    random = random * 1664525u + 1013904223u;
    return (random >> 8) % n;
  };
  for (int l = 0; l < lanes; ++l) {
    Lane lane{"stage " + std::to_string(l),
              16,
              {{"compute", StreamKind::compute, {}}, {"network", StreamKind::communication, {}}},
              {},
              Bytes{1e6}};
    for (Stream& stream : lane.streams) {
      double t = 0;
      for (int i = 0; i < blocks; ++i) {
        const double d = 1 + next(20);
        const auto kind =
            stream.kind == StreamKind::communication ? BlockKind::communication : static_cast<BlockKind>(next(3));
        t += next(4) == 0 ? next(10) : 0;
        stream.blocks.push_back({Microseconds{t}, Microseconds{d}, kind, static_cast<std::int32_t>(i % 64), i,
                                 "f" + std::to_string(i % 64)});
        if (stream.kind == StreamKind::compute)
          lane.memory.push_back(stacked(Microseconds{t}, {double(next(200000)), double(next(200000)), double(next(200000)), double(next(200000)), double(next(200000))}));
        t += d;
      }
      model.duration = std::max(model.duration, Microseconds{t});
    }
    model.lanes.push_back(std::move(lane));
  }
  return model;
}

template <class F>
double median_ms(F&& f) {
  std::vector<double> ms;
  for (int i = 0; i < 15; ++i) {
    const std::clock_t begin = std::clock();
    f();
    ms.push_back(1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

}  // namespace

int main() {
  const TimelineModel model = large(8, 62500);  // two streams a lane: 1,000,000 blocks
  const std::clock_t begin = std::clock();
  const TimelineIndex index = build_index(model);
  std::printf("index: %.1f ms\n", 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  const Rect area{0, 0, 1600, 1000};
  ImGuiHost host({PLANSCOPE_FONT_DIR "/DejaVuSans.ttf", PLANSCOPE_FONT_DIR "/DejaVuSans-Bold.ttf"});
  host.resize({area.width, area.height}, 1);
  std::printf("%-10s %10s %12s %12s %14s\n", "visible", "shapes", "record ms", "frame ms", "unfolded ms");
  Canvas canvas;  // kept, as surfaces keep theirs
  for (const double share : {1.0, 0.1, 0.01, 0.001}) {
    TimelineView view = fit({}, model);
    if (share < 1) view.range = {model.duration * 0.4, model.duration * (0.4 + share)};
    std::size_t shapes = 0;
    const double record = median_ms([&] {
      canvas.clear();
      draw_timeline(canvas, model, index, view, area, dark_theme());
      shapes = canvas.list().size();
    });
    const double frame = median_ms([&] {
      canvas.clear();
      draw_timeline(canvas, model, index, view, area, dark_theme());
      host.frame(canvas.list(), dark_theme().background);
    });
    const TimelineLayout layout = lay_out(model, view, area);
    const double unfolded = median_ms([&] {
      for (std::size_t l = 0; l < model.lanes.size(); ++l) {
        for (std::size_t s = 0; s < 2; ++s)
          visible_spans(model.lanes[l].streams[s], index.streams[l][s], layout.scale, Pixels{0});
      }
    });
    std::printf("%-10g %10zu %12.2f %12.2f %14.2f\n", share, shapes, record, frame, unfolded);
  }
}
