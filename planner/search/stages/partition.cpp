#include "planner/search/stages/partition.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::int64_t stage_memory(const std::vector<Layer>& layers, const PartitionSpec& spec, int s, int first, int end,
                          int again) {
  const std::int64_t under_way = std::min<std::int64_t>(spec.micro_batches, spec.stages - s + spec.more_under_way);
  std::int64_t kept = 0, state = 0, at_work = 0;
  for (int i = first; i < end; ++i) {
    const Layer& l = layers[at(i)];
    const bool twice = i < first + again;
    kept += twice ? std::min(l.kept, l.kept_again) : l.kept;
    state += l.state;
    at_work = std::max(at_work, kept + (twice ? l.working_again : l.working));
  }
  return state + (under_way - 1) * kept + at_work;
}

namespace {

// The largest of any range, by a table of those of 2^k values (Bender, Farach-Colton, "The LCA problem revisited", 2000).
class RangeMax {
 public:
  explicit RangeMax(std::vector<std::int64_t> values) : rows_{std::move(values)} {
    for (std::size_t width = 1; 2 * width <= rows_[0].size(); width *= 2) {
      const std::vector<std::int64_t>& half = rows_.back();
      std::vector<std::int64_t> row(half.size() - width);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = std::max(half[i], half[i + width]);
      rows_.push_back(std::move(row));
    }
  }
  std::int64_t of(int first, int end) const {  // 0: empty
    if (first >= end) return 0;
    const auto k = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(end - first)) - 1);
    return std::max(rows_[k][at(first)], rows_[k][at(end) - (std::size_t{1} << k)]);
  }

 private:
  std::vector<std::vector<std::int64_t>> rows_;
};

// By layer: what those before it and itself keep, and what it works with.
std::vector<std::int64_t> at_work(const std::vector<Layer>& layers, bool again) {
  std::int64_t kept = 0;
  std::vector<std::int64_t> out;
  for (const Layer& l : layers) {
    kept += again ? std::min(l.kept, l.kept_again) : l.kept;
    out.push_back(kept + (again ? l.working_again : l.working));
  }
  return out;
}

struct Sums {
  std::int64_t time = 0, forward = 0, again = 0, kept = 0, kept_again = 0, state = 0, reduce = 0, gather = 0,
               through = 0, copied = 0;
};

// What a stage leaves to its layers: micro-batches under way beside the one at work, bytes that stay unused.
struct Room {
  std::int64_t others = 0, less = 0;
};

// What any range of layers takes and needs on one ground.
class Ranges {
 public:
  explicit Ranges(const Ground& ground)
      : memory_(ground.memory),
        host_(ground.host),
        host_rate_(ground.host_rate),
        once_(at_work(ground.layers, false)),
        again_(at_work(ground.layers, true)) {
    sums_.emplace_back();
    for (const Layer& l : ground.layers) {
      const Sums& s = sums_.back();
      sums_.push_back({s.time + l.time_ns, s.forward + l.forward_ns, s.again + l.again_ns, s.kept + l.kept,
                       s.kept_again + std::min(l.kept, l.kept_again), s.state + l.state, s.reduce + l.reduce_ns,
                       s.gather + l.gather_ns, s.through + l.through_ns, s.copied + l.copied});
    }
  }

  Sums between(int first, int end) const {
    const Sums &a = sums_[at(first)], &b = sums_[at(end)];
    return {b.time - a.time,     b.forward - a.forward,       b.again - a.again,
            b.kept - a.kept,     b.kept_again - a.kept_again, b.state - a.state,
            b.reduce - a.reduce, b.gather - a.gather,         b.through - a.through,
            b.copied - a.copied};
  }
  std::int64_t time_of(int first, int end, int again) const {
    const Sums relieved = between(first, first + again);
    const double copies = relieved.copied > 0 ? static_cast<double>(relieved.copied) / host_rate_ : 0;
    return std::max(between(first, end).time + relieved.again, static_cast<std::int64_t>(copies));
  }

  // How much more than there is the range needs, whatever is computed again.
  std::int64_t shortage(Room room, int first, int end) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int again = 0; again <= end - first && host_fits(room, first, again); ++again)
      least = std::min(least, kept(room.others, first, end, again) + working(first, end, again));
    return least + between(first, end).state + room.less - memory_;
  }

  // How many layers must be computed again so that the range fits; -1: it does not. What is kept gets less with more of
  // them, and so does what the others need at work; what they need at work does not.
  int least_again(Room room, int first, int end) const {
    const std::int64_t bytes = memory_ - room.less - between(first, end).state;
    const auto kept_of = [&](int again) { return kept(room.others, first, end, again); };
    const auto others_fit = [&](int again) { return kept_of(again) + working_once(first, end, again) <= bytes; };
    const auto fits = [&](int again) { return kept_of(again) + working(first, end, again) <= bytes; };
    if (fits(0)) return 0;
    if (!others_fit(end - first)) return -1;
    int no = others_fit(0) ? -1 : 0, yes = end - first;
    while (yes - no > 1) {
      const int middle = no + (yes - no) / 2;
      (others_fit(middle) ? yes : no) = middle;
    }
    while (yes <= end - first && !fits(yes)) ++yes;
    return yes <= end - first && host_fits(room, first, yes) ? yes : -1;
  }

  bool offloads() const { return sums_.back().copied > 0; }

 private:
  bool host_fits(Room room, int first, int again) const {
    return (room.others + 1) * between(first, first + again).copied <= host_;
  }
  std::int64_t kept(std::int64_t others, int first, int end, int again) const {
    return others * (between(first, first + again).kept_again + between(first + again, end).kept);
  }
  // Of the one at work, in a layer that is computed once.
  std::int64_t working_once(int first, int end, int again) const {
    const int middle = first + again;
    if (middle >= end) return 0;
    return between(first, middle).kept_again + once_.of(middle, end) - sums_[at(middle)].kept;
  }
  std::int64_t working(int first, int end, int again) const {
    const std::int64_t once = working_once(first, end, again);
    return again == 0 ? once : std::max(once, again_.of(first, first + again) - sums_[at(first)].kept_again);
  }

  std::int64_t memory_, host_;
  double host_rate_;
  RangeMax once_, again_;
  std::vector<Sums> sums_;
};

class Cuts {
 public:
  Cuts(const std::vector<Ground>& grounds, const PartitionSpec& spec)
      : layers_(static_cast<int>(grounds.at(0).layers.size())), spec_(spec) {
    for (const Ground& g : grounds) grounds_.emplace_back(g);
  }

  // Whether stages may lack no more than so much, if some of them may be empty: from the last one on each takes as many layers as
  // it can. No: no cut can. (Fewer layers of a stage never need more.)
  bool may_lack(std::int64_t bytes) const {
    int end = layers_;
    for (int s = spec_.stages - 1; s >= 0 && end > 0; --s) {
      int no = -1, first = end;
      while (first - no > 1) {
        const int middle = no + (first - no) / 2;
        (on(s).shortage(room(s), middle, end) <= bytes ? first : no) = middle;
      }
      end = first;
    }
    return end == 0;
  }

  std::optional<Partition> best() {
    const int n = layers_, stages = spec_.stages;
    if (stages > n || (stages > 1 && !may_lack(0))) return std::nullopt;
    // By stage and first layer: states that no other beats in both.
    states_.assign(at(stages + 1), std::vector<std::vector<State>>(at(n + 1)));
    states_[at(stages)][at(n)].push_back({0, kNone, n, -1, 0});
    for (int s = stages - 1; s >= 0; --s)
      for (int end = s + 1; end <= n; ++end)
        if (!states_[at(s + 1)][at(end)].empty()) extend(s, end);
    const auto& ends = states_[0][0];
    if (ends.empty()) return std::nullopt;
    const auto step = [&](const State& e) { return e.all + e.worst + exposed(e.end, e.again); };
    const auto chosen =
        std::min_element(ends.begin(), ends.end(), [&](const State& x, const State& y) { return step(x) < step(y); });
    Partition out;
    out.step_ns = step(*chosen);
    State state = *chosen;
    for (int s = 0, first = 0; s < stages; ++s) {
      out.layers.push_back(state.end - first);
      out.recompute.push_back(state.again);
      first = state.end;
      if (s + 1 < stages) state = states_[at(s + 1)][at(first)][at(state.next)];
    }
    return out;
  }

  // From the last stage to the first: the least that the stages from s on lack, by their first layer. The longer the first of
  // them, the more it lacks.
  std::optional<std::int64_t> shortage() const {
    const int n = layers_;
    if (spec_.stages > n) return std::nullopt;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> least(at(n + 1), none);
    least[at(n)] = std::numeric_limits<std::int64_t>::min();
    for (int s = spec_.stages - 1; s >= 0; --s) {
      std::vector<std::int64_t> next(at(n + 1), none);
      for (int first = s; first < n; ++first)
        for (int end = first + 1; end <= n; ++end) {
          std::int64_t& known = next[at(first)];
          if (least[at(end)] >= known) continue;  // or there is none
          const std::int64_t lacking = on(s).shortage(room(s), first, end);
          if (lacking >= known) break;
          known = std::max(lacking, least[at(end)]);
        }
      least = std::move(next);
    }
    return least[0];
  }

  // What 1F1B takes with this cut and the least recomputation that fits, which is written to `again`; nothing: it does not fit.
  std::optional<std::int64_t> played(const std::vector<int>& cut, std::vector<int>& again) const {
    std::vector<std::int64_t> forward, backward;
    again.clear();
    int first = 0;
    for (int s = 0; s < spec_.stages; ++s) {
      const int end = first + cut[at(s)];
      again.push_back(on(s).least_again(room(s), first, end));
      if (again.back() < 0) return std::nullopt;
      forward.push_back(on(s).between(first, end).forward);
      backward.push_back(on(s).time_of(first, end, again.back()) - forward.back());
      first = end;
    }
    return play_1f1b(forward, backward, spec_.micro_batches);
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;

  // Of the stages from one on.
  struct State {
    std::int64_t all;      // of one micro-batch in all of them
    std::int64_t worst;    // the largest of the terms of their bounds, as if these stages were all
    int end, next, again;  // of the first one, the state behind it, how many layers are computed again
  };

  const Ranges& on(int s) const { return grounds_[spec_.ground.empty() ? 0 : at(spec_.ground[at(s)])]; }
  std::int64_t others(int s) const {
    return std::min<std::int64_t>(spec_.micro_batches, spec_.stages - s + spec_.more_under_way) - 1;
  }
  Room room(int s) const { return {others(s), spec_.less.empty() ? 0 : spec_.less[at(s)]}; }

  // Stage s from any layer to `end`, before every state behind it.
  void extend(int s, int end) {
    const Ranges& ranges = on(s);
    for (int first = end - 1; first >= s; --first) {
      if (s == 0 && first > 0) continue;
      const int again = ranges.least_again(room(s), first, end);
      if (again < 0 && !ranges.offloads()) return;  // more layers need more still
      if (again < 0) continue;                      // more of the host: these may be other layers
      const std::int64_t time = ranges.time_of(first, end, again);
      const Sums sums = ranges.between(first, end);
      const std::int64_t ahead = (std::min<std::int64_t>(spec_.micro_batches, spec_.stages - s) - 1) * sums.forward;
      const auto& behind = states_[at(s + 1)][at(end)];
      for (int i = 0; i < static_cast<int>(behind.size()); ++i) {
        const State& next = behind[at(i)];
        if (spec_.any_order) {
          const std::int64_t term = spec_.micro_batches * (time + spec_.everywhere_ns);
          add(states_[at(s)][at(first)], {0, std::max(next.worst + sums.through, term), end, i, again}, s == 0);
        } else {
          const std::int64_t term = (spec_.micro_batches - 1) * time - std::min(next.all, ahead);
          add(states_[at(s)][at(first)], {next.all + time, std::max(next.worst, term), end, i, again}, s == 0);
        }
      }
    }
  }

  // Of the first stage's exchange of gradients and parameters, what its last backward and first forward cannot hide.
  std::int64_t exposed(int end, int again) const {
    const Sums s = on(0).between(0, end);
    const std::int64_t backward = on(0).time_of(0, end, again) - s.forward;
    return std::max<std::int64_t>(0, s.reduce - backward) + std::max<std::int64_t>(0, s.gather - s.forward);
  }

  static void add(std::vector<State>& list, const State& next, bool first_stage) {
    const auto beats = [&](const State& a, const State& b) {
      // First stages of different length end differently (exposed): they do not beat each other.
      return a.all <= b.all && a.worst <= b.worst && (!first_stage || a.end == b.end);
    };
    if (std::any_of(list.begin(), list.end(), [&](const State& o) { return beats(o, next); })) return;
    std::erase_if(list, [&](const State& o) { return beats(next, o); });
    list.push_back(next);
  }

  const int layers_;
  const PartitionSpec& spec_;
  std::vector<Ranges> grounds_;
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

std::optional<PlayedCut> played(const std::vector<Ground>& grounds, const PartitionSpec& spec,
                                std::vector<int> layers) {
  PlayedCut out{std::move(layers), {}, 0};
  const std::optional<std::int64_t> step = Cuts(grounds, spec).played(out.layers, out.recompute);
  if (!step) return std::nullopt;
  out.step_ns = *step;
  return out;
}

Partition refined(const std::vector<Ground>& grounds, const PartitionSpec& spec, Partition p) {
  const Cuts cuts(grounds, spec);
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

bool may_lack(const std::vector<Ground>& grounds, const PartitionSpec& spec, std::int64_t bytes) {
  return spec.stages == 1 || Cuts(grounds, spec).may_lack(bytes);
}

std::optional<std::int64_t> shortage(const std::vector<Ground>& grounds, const PartitionSpec& spec) {
  return Cuts(grounds, spec).shortage();
}

std::optional<Partition> partition(const std::vector<Ground>& grounds, const PartitionSpec& spec) {
  return Cuts(grounds, spec).best();
}

}  // namespace planscope::stages
