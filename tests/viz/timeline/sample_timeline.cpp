#include "tests/viz/timeline/sample_timeline.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace planscope::viz {
namespace {

struct Task {
  bool forward;
  int micro_batch;
};

std::vector<Task> order_of(int stage, int stages, int micro_batches) {
  std::vector<Task> order;
  int f = 0;
  for (; f < std::min(micro_batches, stages - stage); ++f) order.push_back({true, f});
  for (int b = 0; b < micro_batches; ++b) {
    order.push_back({false, b});
    if (f < micro_batches) order.push_back({true, f++});
  }
  return order;
}

constexpr double forward_us = 10000, backward_us = 20000, send_us = 1000;
constexpr double gib = 1024.0 * 1024 * 1024;

Block idle(double from, double to, BlockKind kind) {
  return {Microseconds{from}, Microseconds{to - from}, kind, -1, -1, ""};
}

}  // namespace

TimelineModel pipeline_timeline(int stages, int micro_batches) {
  TimelineModel model;
  model.details = {{.title = "forward"}, {.title = "backward"}, {.title = "send"}, {.title = "update"}};
  std::vector<std::vector<Task>> order;
  for (int s = 0; s < stages; ++s) {
    order.push_back(order_of(s, stages, micro_batches));
    model.lanes.push_back({"stage " + std::to_string(s),
                           16,
                           {{"compute", StreamKind::compute, {}}, {"network", StreamKind::communication, {}}},
                           {{Microseconds{0}, Bytes{20 * gib}}},
                           Bytes{80 * gib}});
  }
  std::map<std::tuple<bool, int, int>, std::pair<double, BlockRef>> done;
  std::vector<std::size_t> next(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int s = 0; s < stages; ++s) {
      Lane& lane = model.lanes[s];
      std::vector<Block>& blocks = lane.streams[0].blocks;
      while (next[s] < order[s].size()) {
        const auto [is_forward, m] = order[s][next[s]];
        const int from = is_forward ? s - 1 : s + 1;
        const bool needs = from >= 0 && from < stages;
        const auto source = done.find({is_forward, from, m});
        if (needs && source == done.end()) break;
        const double free_at = blocks.empty() ? 0 : blocks.back().end().value;
        const double start = std::max(free_at, needs ? source->second.first + send_us : 0.0);
        if (start > free_at)
          blocks.push_back(idle(free_at, start, blocks.empty() ? BlockKind::idle_warm_up : BlockKind::idle_data));
        const double length = is_forward ? forward_us : backward_us;
        blocks.push_back({Microseconds{start}, Microseconds{length},
                          is_forward ? BlockKind::forward : BlockKind::backward, m, is_forward ? 0 : 1,
                          (is_forward ? "f" : "b") + std::to_string(m)});
        const double bytes = lane.memory.back().bytes.value + (is_forward ? 9 : -9) * gib;
        lane.memory.push_back({Microseconds{is_forward ? start : start + length}, Bytes{bytes}});
        const BlockRef ref{s, 0, static_cast<int>(blocks.size()) - 1};
        done[{is_forward, s, m}] = {start + length, ref};
        if (needs) model.links.push_back({source->second.second, ref});
        const int to = is_forward ? s + 1 : s - 1;
        if (to >= 0 && to < stages)
          lane.streams[1].blocks.push_back(
              {Microseconds{start + length}, Microseconds{send_us}, BlockKind::communication, m, 2, "send"});
        ++next[s];
        moved = true;
      }
    }
  }
  double last = 0;
  for (const Lane& lane : model.lanes) last = std::max(last, lane.streams[0].blocks.back().end().value);
  for (Lane& lane : model.lanes) {
    std::vector<Block>& blocks = lane.streams[0].blocks;
    const double end = blocks.back().end().value;
    if (end < last) blocks.push_back(idle(end, last, BlockKind::idle_cool_down));
    blocks.push_back({Microseconds{last}, Microseconds{4000}, BlockKind::update, -1, 3, "update"});
  }
  model.duration = Microseconds{last + 4000};
  return model;
}

}  // namespace planscope::viz
