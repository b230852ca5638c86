#include "planner/search/stages/partition.h"

#include <algorithm>
#include <limits>

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

std::int64_t stage_memory(const std::vector<Layer>& layers, const PartitionSpec& spec, int s, int first, int end,
                          int again) {
  const std::int64_t under_way = std::min<std::int64_t>(spec.micro_batches, spec.stages - s);
  std::int64_t kept = 0, state = 0, working = 0;
  for (int i = first; i < end; ++i) {
    const Layer& l = layers[at(i)];
    kept += i < first + again ? std::min(l.kept, l.kept_again) : l.kept;
    state += l.state;
    working = std::max({working, l.working, again > 0 ? l.working_again : 0});
  }
  return state + under_way * kept + working;
}

namespace {

class Cuts {
 public:
  Cuts(const std::vector<Layer>& layers, const PartitionSpec& spec) : layers_(layers), spec_(spec) {
    sums_.emplace_back();
    for (const Layer& l : layers) {
      const Sums& s = sums_.back();
      sums_.push_back({s.time + l.time_ns, s.again + l.again_ns, s.kept + l.kept, s.kept_again + std::min(l.kept, l.kept_again),
                       s.state + l.state});
    }
  }

  std::optional<Partition> best() {
    const int n = static_cast<int>(layers_.size()), stages = spec_.stages;
    if (stages > n) return std::nullopt;
    // States that no other of the same stage and number of layers beats: less time before, less of the largest bound.
    struct State {
      std::int64_t before, step;
      int from, state, again;  // where it came from
    };
    std::vector<std::vector<std::vector<State>>> states(at(stages + 1), std::vector<std::vector<State>>(at(n + 1)));
    states[0][0].push_back({0, 0, -1, -1, 0});
    for (int s = 0; s < stages; ++s)
      for (int first = s; first < n; ++first) {
        const auto& here = states[at(s)][at(first)];
        if (here.empty()) continue;
        const int last = s + 1 == stages ? n : n - (stages - s - 1);
        std::int64_t working = 0, working_again = 0;
        for (int end = first + 1; end <= last; ++end) {
          working = std::max(working, layers_[at(end - 1)].working);
          working_again = std::max(working_again, layers_[at(end - 1)].working_again);
          if (s + 1 == stages && end < n) continue;
          const int again = least_again(s, first, end, working, working_again);
          if (again < 0) break;  // more layers need more still
          const std::int64_t time = time_of(first, end, again);
          auto& there = states[at(s + 1)][at(end)];
          for (int i = 0; i < static_cast<int>(here.size()); ++i) {
            const State& h = here[at(i)];
            const State next{h.before + time, std::max(h.step, h.before + spec_.micro_batches * time), first, i, again};
            if (std::any_of(there.begin(), there.end(),
                            [&](const State& o) { return o.before <= next.before && o.step <= next.step; }))
              continue;
            std::erase_if(there, [&](const State& o) { return next.before <= o.before && next.step <= o.step; });
            there.push_back(next);
          }
        }
      }
    const auto& ends = states[at(stages)][at(n)];
    if (ends.empty()) return std::nullopt;
    Partition out;
    const auto chosen = std::min_element(ends.begin(), ends.end(),
                                         [](const State& a, const State& b) { return a.step < b.step; });
    out.step_ns = chosen->step;
    State s = *chosen;
    for (int stage = stages, end = n; stage > 0; --stage) {
      out.layers.insert(out.layers.begin(), end - s.from);
      out.recompute.insert(out.recompute.begin(), s.again);
      end = s.from;
      if (stage > 1) s = states[at(stage - 1)][at(s.from)][at(s.state)];
    }
    return out;
  }

 private:
  struct Sums {
    std::int64_t time = 0, again = 0, kept = 0, kept_again = 0, state = 0;
  };
  Sums between(int first, int end) const {
    const Sums &a = sums_[at(first)], &b = sums_[at(end)];
    return {b.time - a.time, b.again - a.again, b.kept - a.kept, b.kept_again - a.kept_again, b.state - a.state};
  }

  // How many layers must be computed again so that the stage fits; -1: it does not. More of them need no more memory.
  int least_again(int s, int first, int end, std::int64_t working, std::int64_t working_again) const {
    const std::int64_t under_way = std::min<std::int64_t>(spec_.micro_batches, spec_.stages - s);
    const Sums all = between(first, end);
    if (all.state + under_way * all.kept + working <= spec_.memory) return 0;
    const std::int64_t room = spec_.memory - all.state - std::max(working, working_again);
    const auto fits = [&](int again) {
      return under_way * (between(first, first + again).kept_again + between(first + again, end).kept) <= room;
    };
    int no = 0, yes = end - first;
    if (!fits(yes)) return -1;
    while (yes - no > 1) {
      const int middle = no + (yes - no) / 2;
      (fits(middle) ? yes : no) = middle;
    }
    return yes;
  }
  std::int64_t time_of(int first, int end, int again) const {
    return between(first, end).time + between(first, first + again).again;
  }

  const std::vector<Layer>& layers_;
  const PartitionSpec& spec_;
  std::vector<Sums> sums_;
};

}  // namespace

std::optional<Partition> partition(const std::vector<Layer>& layers, const PartitionSpec& spec) {
  return Cuts(layers, spec).best();
}

}  // namespace planscope::stages
