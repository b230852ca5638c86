#include "planner/search/stages/partition.h"

#include <algorithm>
#include <limits>

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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
      sums_.push_back({s.time + l.time_ns, s.forward + l.forward_ns, s.again + l.again_ns, s.kept + l.kept,
                       s.kept_again + std::min(l.kept, l.kept_again), s.state + l.state});
    }
  }

  std::optional<Partition> best() {
    const int n = static_cast<int>(layers_.size()), stages = spec_.stages;
    if (stages > n) return std::nullopt;
    // By stage and first layer: states that no other beats in both.
    states_.assign(at(stages + 1), std::vector<std::vector<State>>(at(n + 1)));
    states_[at(stages)][at(n)].push_back({0, kNone, n, -1, 0});
    for (int s = stages - 1; s >= 0; --s)
      for (int end = s + 1; end <= n; ++end)
        if (!states_[at(s + 1)][at(end)].empty()) extend(s, end);
    const auto& ends = states_[0][0];
    if (ends.empty()) return std::nullopt;
    const auto chosen = std::min_element(
        ends.begin(), ends.end(), [](const State& a, const State& b) { return a.all + a.worst < b.all + b.worst; });
    Partition out;
    out.step_ns = chosen->all + chosen->worst;
    State state = *chosen;
    for (int s = 0, first = 0; s < stages; ++s) {
      out.layers.push_back(state.end - first);
      out.recompute.push_back(state.again);
      first = state.end;
      if (s + 1 < stages) state = states_[at(s + 1)][at(first)][at(state.next)];
    }
    return out;
  }

  // What 1F1B takes with this cut and the least recomputation that fits, which is written to `again`; nothing: it does not fit.
  std::optional<std::int64_t> played(const std::vector<int>& cut, std::vector<int>& again) const {
    std::vector<std::int64_t> forward, backward;
    again.clear();
    int first = 0;
    for (int s = 0; s < spec_.stages; ++s) {
      const int end = first + cut[at(s)];
      std::int64_t working = 0, working_again = 0;
      for (int i = first; i < end; ++i) {
        working = std::max(working, layers_[at(i)].working);
        working_again = std::max(working_again, layers_[at(i)].working_again);
      }
      again.push_back(least_again(s, first, end, working, working_again));
      if (again.back() < 0) return std::nullopt;
      forward.push_back(between(first, end).forward);
      backward.push_back(time_of(first, end, again.back()) - forward.back());
      first = end;
    }
    return play_1f1b(forward, backward, spec_.micro_batches);
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;

  struct State {
    std::int64_t all, worst;  // of one micro-batch in this stage and those behind; largest of the terms of their bounds
    int end, next, again;     // of this stage, the state behind it, how many layers are computed again
  };

  // Stage s from any layer to `end`, before every state behind it.
  void extend(int s, int end) {
    std::int64_t working = 0, working_again = 0;
    for (int first = end - 1; first >= s; --first) {
      working = std::max(working, layers_[at(first)].working);
      working_again = std::max(working_again, layers_[at(first)].working_again);
      if (s == 0 && first > 0) continue;
      const int again = least_again(s, first, end, working, working_again);
      if (again < 0) return;  // more layers need more still
      const std::int64_t time = time_of(first, end, again), forward = between(first, end).forward;
      const std::int64_t ahead = (std::min<std::int64_t>(spec_.micro_batches, spec_.stages - s) - 1) * forward;
      const auto& behind = states_[at(s + 1)][at(end)];
      for (int i = 0; i < static_cast<int>(behind.size()); ++i) {
        const std::int64_t term = (spec_.micro_batches - 1) * time - std::min(behind[at(i)].all, ahead);
        add(states_[at(s)][at(first)], {behind[at(i)].all + time, std::max(behind[at(i)].worst, term), end, i, again});
      }
    }
  }

  static void add(std::vector<State>& list, const State& next) {
    const auto beats = [](const State& a, const State& b) { return a.all <= b.all && a.worst <= b.worst; };
    if (std::any_of(list.begin(), list.end(), [&](const State& o) { return beats(o, next); })) return;
    std::erase_if(list, [&](const State& o) { return beats(next, o); });
    list.push_back(next);
  }

  struct Sums {
    std::int64_t time = 0, forward = 0, again = 0, kept = 0, kept_again = 0, state = 0;
  };
  Sums between(int first, int end) const {
    const Sums &a = sums_[at(first)], &b = sums_[at(end)];
    return {b.time - a.time, b.forward - a.forward,       b.again - a.again,
            b.kept - a.kept, b.kept_again - a.kept_again, b.state - a.state};
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
  std::vector<std::vector<std::vector<State>>> states_;
};

}  // namespace

// Along 1F1B's order of tasks, stage by stage, what comes before is known when micro-batches are taken in turn: forward of
// micro-batch m at stage s comes behind backward m - (n - s) there.
std::int64_t play_1f1b(const std::vector<std::int64_t>& forward_ns, const std::vector<std::int64_t>& backward_ns,
                       std::int64_t micro_batches) {
  const auto n = static_cast<std::int64_t>(forward_ns.size());
  std::vector<std::int64_t> forward(at(static_cast<int>(n * micro_batches)), -1), backward = forward;
  std::vector<std::int64_t> now(forward_ns.size(), 0), done(forward_ns.size(), 0);  // by stage; done: tasks
  const auto index = [&](std::int64_t s, std::int64_t m) { return static_cast<std::size_t>(s * micro_batches + m); };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::int64_t s = 0; s < n; ++s) {
      const auto u = static_cast<std::size_t>(s);
      const std::int64_t ahead = std::min(micro_batches, n - s);
      for (; done[u] < 2 * micro_batches; ++done[u], moved = true) {
        // First `ahead` forwards, then backward and forward in turn, then the backwards that are left.
        const std::int64_t k = done[u], paired = ahead + 2 * (micro_batches - ahead);
        const bool back = k >= ahead && (k >= paired || (k - ahead) % 2 == 0);
        const std::int64_t m = k < ahead     ? k
                               : k >= paired ? k - micro_batches
                               : back        ? (k - ahead) / 2
                                             : ahead + (k - ahead) / 2;
        const std::int64_t ready = back ? (s + 1 == n ? forward[index(s, m)] : backward[index(s + 1, m)])
                                        : (s == 0 ? 0 : forward[index(s - 1, m)]);
        if (ready < 0) break;
        now[u] = std::max(now[u], ready) + (back ? backward_ns[u] : forward_ns[u]);
        (back ? backward : forward)[index(s, m)] = now[u];
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

Partition refined(const std::vector<Layer>& layers, const PartitionSpec& spec, Partition p) {
  const Cuts cuts(layers, spec);
  std::vector<int> again;
  std::int64_t best = cuts.played(p.layers, again).value_or(std::numeric_limits<std::int64_t>::max());
  for (bool better = true; better;) {
    better = false;
    for (int from = 0; from < spec.stages; ++from)
      for (int to = 0; to < spec.stages; ++to) {
        if (from == to || p.layers[at(from)] < 2) continue;
        std::vector<int> cut = p.layers;
        --cut[at(from)];
        ++cut[at(to)];
        const std::optional<std::int64_t> step = cuts.played(cut, again);
        if (!step || *step >= best) continue;
        best = *step;
        p.layers = std::move(cut);
        p.recompute = again;
        better = true;
      }
  }
  return p;
}

std::optional<Partition> partition(const std::vector<Layer>& layers, const PartitionSpec& spec) {
  return Cuts(layers, spec).best();
}

}  // namespace planscope::stages
