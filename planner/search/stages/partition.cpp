#include "planner/search/stages/partition.h"

#include <algorithm>
#include <array>
#include <limits>

#include "planner/search/stages/layer_ranges.h"

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Ranges::least_on_device of one stage, found once for all ranges of so many equal layers.
class Least {
 public:
  Least(const Ranges& ranges, Room room, int layers) : ranges_(ranges), room_(room), known_(at(layers + 1), kUnknown) {}
  int again(int first, int end) {
    const int place = ranges_.place_among_equal(first, end);
    if (place < 0) return ranges_.least_on_device(room_, first, end);
    int& known = known_[at(place)];
    if (known == kUnknown) known = ranges_.least_on_device(room_, first, end);
    return known;
  }
  bool host_fits(int first, int again) const { return ranges_.host_fits(room_, first, again); }

 private:
  static constexpr int kUnknown = -2;
  const Ranges& ranges_;
  Room room_;
  std::vector<int> known_;
};

class Cuts {
 public:
  Cuts(const std::vector<Ground>& grounds, const PartitionSpec& spec)
      : layers_(static_cast<int>(grounds.at(0).layers.size())), spec_(spec) {
    for (const Ground& g : grounds) grounds_.emplace_back(g);
  }

  // Whether some cut fits on devices that have so many bytes more. From the last stage to the first: the layers with which it and
  // those behind it can begin; with the nearest end that is possible, as a part of a range that fits does too.
  bool fits(std::int64_t more) const {
    if (spec_.stages > layers_) return false;
    std::vector<bool> ends(at(layers_ + 1), false);
    ends[at(layers_)] = true;
    for (int s = spec_.stages - 1; s >= 0; --s) {
      Least least(on(s), room(s, more), layers_);
      std::vector<bool> firsts(ends.size(), false);
      int nearest = -1;
      for (int first = layers_ - 1; first >= s; --first) {
        if (ends[at(first + 1)]) nearest = first + 1;
        if (nearest < 0 || (s == 0 && first > 0)) continue;
        firsts[at(first)] = fits_to_some(first, nearest, ends, least);
      }
      ends = std::move(firsts);
    }
    return ends[0];
  }

  // Within a limit of the step, and higher ones until a cut is found: the lower it is, the fewer stages are worth looking at, and
  // the best that is found within it is the best of all.
  std::optional<Partition> best() {
    if (!fits(0)) return std::nullopt;
    find_least();
    find_reach();
    const std::int64_t least = std::max(before_[at(layers_)].through, least_work(spec_.stages, layers_));
    for (const std::int64_t part : kLimits) {
      limit_ = part > 0 ? least + least / part + 1 : kNoLimit;
      const std::optional<Partition> out = within_limit();
      if (!left_out_ || (out && out->step_ns <= limit_)) return out;
      if (!out) continue;
      limit_ = out->step_ns;  // none that takes longer is worth looking at
      return within_limit();
    }
    return std::nullopt;
  }

  // The least number of bytes with which some cut fits.
  std::optional<std::int64_t> shortage() const {
    if (spec_.stages > layers_) return std::nullopt;
    std::int64_t no = -1, yes = 0;
    for (std::int64_t step = kShortageStep; fits(no); step *= 2) {
      yes = no;
      no -= step;
    }
    for (std::int64_t step = kShortageStep; !fits(yes); step *= 2) {
      no = yes;
      yes += step;
    }
    while (yes - no > 1) {
      const std::int64_t middle = no + (yes - no) / 2;
      (fits(middle) ? yes : no) = middle;
    }
    return yes;
  }

  // What 1F1B takes with this cut and the least recomputation that fits, which is written to `again`; nothing: it does not fit.
  std::optional<std::int64_t> played(const std::vector<int>& cut, std::vector<int>& again) const {
    std::vector<StageTime> times;
    again.clear();
    int first = 0;
    for (int s = 0; s < spec_.stages; ++s) {
      const int end = first + cut[at(s)];
      again.push_back(on(s).least_again(room(s), first, end));
      if (again.back() < 0) return std::nullopt;
      const Sums once = on(s).between(first, end);
      times.push_back({once.forward, on(s).time_of(first, end, again.back()) - once.time, once.time - once.forward});
      first = end;
    }
    return play_1f1b(times, spec_.micro_batches);
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
  static constexpr std::int64_t kShortageStep = 1 << 24;
  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  // Limits of the step are above what it takes at least by this part of that; 0: there is none.
  static constexpr std::array<std::int64_t, 4> kLimits = {64, 8, 1, 0};

  // Of the stages from one on.
  struct State {
    std::int64_t through;  // of one micro-batch, all of them
    std::int64_t worst;    // the largest of the terms of their bounds, as if these stages were all
    int end, next, again;  // of the first one, the state behind it, how many layers are computed again
  };
  // Those of one stage by its first layer: states that no other beats in both.
  struct Level {
    std::vector<State> states;
    std::vector<int> begin;  // of each first layer's, in `states`
    std::vector<int> next;   // of each layer the first one from it on that has some; behind them: there is none
    void find_next() {
      next.resize(begin.size());
      next.back() = static_cast<int>(begin.size()) - 1;
      for (std::size_t i = begin.size() - 1; i-- > 0;)
        next[i] = begin[i] < begin[i + 1] ? static_cast<int>(i) : next[i + 1];
    }
  };

  void find_least() {
    for (int i = 0; i <= layers_; ++i) {
      Sums& least = before_.emplace_back(grounds_[0].between(0, i));
      for (const Ranges& g : grounds_) {
        const Sums there = g.between(0, i);
        least.time = std::min(least.time, there.time);
        least.through = std::min(least.through, there.through);
        least.adding = std::max(least.adding, there.adding);
      }
    }
  }

  // What the longest of so many stages at the front works at least, with so many layers.
  std::int64_t least_work(int stages, int layers) const {
    const Sums& all = before_[at(layers)];
    return spec_.micro_batches * (all.time / stages + spec_.everywhere_ns) - all.adding;
  }

  // From the first stage on each takes as many layers as it can: none ends later in any cut that fits.
  void find_reach() {
    reach_.assign(at(spec_.stages + 1), layers_);
    reach_[0] = 0;
    for (int s = 0; s < spec_.stages && reach_[at(s)] < layers_; ++s) {
      int end = reach_[at(s)], no = layers_ + 1;
      while (no - end > 1) {
        const int middle = end + (no - end) / 2;
        (on(s).least_on_device(room(s), reach_[at(s)], middle) >= 0 ? end : no) = middle;
      }
      reach_[at(s + 1)] = end;
    }
  }

  std::optional<Partition> within_limit() {
    const int n = layers_, stages = spec_.stages;
    left_out_ = false;
    levels_.resize(at(stages + 1));
    Level& behind_all = levels_[at(stages)];
    behind_all.states = {{0, kNone, n, -1, 0}};
    behind_all.begin.assign(at(n + 2), 0);
    behind_all.begin[at(n + 1)] = 1;
    behind_all.find_next();
    std::vector<State> list;
    for (int s = stages - 1; s >= 0; --s) {
      Least least(on(s), room(s), n);
      Level& level = levels_[at(s)];
      level.states.clear();
      level.begin.assign(at(n + 2), 0);
      for (int first = 0; first <= n; ++first) {
        if (first >= s && first <= reach_[at(s)]) {
          list.clear();
          extend(s, first, least, list);
          level.states.insert(level.states.end(), list.begin(), list.end());
        }
        level.begin[at(first + 1)] = static_cast<int>(level.states.size());
      }
      level.find_next();
    }
    const std::vector<State>& ends = levels_[0].states;
    if (ends.empty()) return std::nullopt;
    const auto step = [&](const State& e) { return e.worst + exposed(e.end, e.again); };
    const auto chosen =
        std::min_element(ends.begin(), ends.end(), [&](const State& x, const State& y) { return step(x) < step(y); });
    Partition out;
    out.step_ns = step(*chosen);
    State state = *chosen;
    for (int s = 0, first = 0; s < stages; ++s) {
      out.layers.push_back(state.end - first);
      out.recompute.push_back(state.again);
      first = state.end;
      if (s + 1 < stages) state = levels_[at(s + 1)].states[at(state.next)];
    }
    return out;
  }

  const Ranges& on(int s) const { return grounds_[spec_.ground.empty() ? 0 : at(spec_.ground[at(s)])]; }
  Room room(int s, std::int64_t more = 0) const {
    Room out = room_of(spec_, s);
    out.less -= more;
    return out;
  }

  bool fits_to_some(int first, int nearest, const std::vector<bool>& ends, Least& least) const {
    for (int end = nearest; end <= layers_; ++end) {
      if (!ends[at(end)]) continue;
      const int again = least.again(first, end);
      if (again < 0) return false;
      if (least.host_fits(first, again)) return true;
    }
    return false;
  }

  // Stage s from layer `first` on, before every state behind it.
  void extend(int s, int first, Least& least, std::vector<State>& list) {
    const Ranges& ranges = on(s);
    const Level& next_level = levels_[at(s + 1)];
    if (s > 0 && least_work(s, first) > limit_) {
      left_out_ = true;
      return;
    }
    for (int end = next_level.next[at(first + 1)]; end <= layers_; end = next_level.next[at(end + 1)]) {
      const Sums sums = ranges.between(first, end);
      const std::int64_t adding = s > 0 ? sums.adding : 0;  // of its work, when those before go on
      if (spec_.micro_batches * (sums.time + spec_.everywhere_ns) - adding > limit_) {
        left_out_ = true;
        return;
      }
      const int again = least.again(first, end);
      if (again < 0) return;                         // more layers need more still
      if (!least.host_fits(first, again)) continue;  // … but of the host: others may be offloaded
      const std::int64_t time = ranges.time_of(first, end, again);
      const std::int64_t forwards = std::min<std::int64_t>(spec_.micro_batches, spec_.stages - s) - 1;
      const std::int64_t beside = forwards * sums.forward + time - sums.time;  // while the stages behind are at work
      for (int i = next_level.begin[at(end)]; i < next_level.begin[at(end + 1)]; ++i) {
        const State& next = next_level.states[at(i)];
        const std::int64_t waits = spec_.any_order ? 0 : std::max<std::int64_t>(0, next.through - beside);
        const std::int64_t term = spec_.micro_batches * (time + spec_.everywhere_ns) - adding + waits;
        // In any order nothing is asked of the sum: it must not tell states apart.
        const std::int64_t through = spec_.any_order ? 0 : next.through + sums.through;
        const std::int64_t worst = std::max(next.worst + sums.through, term);
        left_out_ = left_out_ || worst > limit_;
        if (worst <= limit_) add(list, {through, worst, end, i, again}, s == 0);
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
      return a.through <= b.through && a.worst <= b.worst && (!first_stage || a.end == b.end);
    };
    if (std::any_of(list.begin(), list.end(), [&](const State& o) { return beats(o, next); })) return;
    std::erase_if(list, [&](const State& o) { return beats(next, o); });
    list.push_back(next);
  }

  const int layers_;
  const PartitionSpec& spec_;
  std::vector<Ranges> grounds_;
  std::vector<Sums> before_;  // of so many layers: the least of any ground, of what is taken off the most
  std::vector<int> reach_;    // of so many stages at the front: the most layers that they can have
  std::vector<Level> levels_;
  std::int64_t limit_ = 0;  // of the step: what takes longer is left out
  bool left_out_ = false;   // something was
};

}  // namespace

bool Partition::lean() const {
  return std::all_of(recompute.begin(), recompute.end(), [](int n) { return n == 0; });
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

namespace {

// Whether all stages together have too little even for what layers have all the time and keep of one micro-batch at least.
// (What stages hand on to each other is kept by the one and not by the other.)
bool clearly_too_large(const std::vector<Ground>& grounds, const PartitionSpec& spec, std::int64_t more) {
  std::int64_t least = 0, there_is = 0;
  for (std::size_t i = 0; i < grounds[0].layers.size(); ++i) {
    std::int64_t of_layer = std::numeric_limits<std::int64_t>::max();
    for (const Ground& g : grounds) {
      const Layer& l = g.layers[i];
      of_layer = std::min(of_layer, l.parameters.state + std::min(l.kept, l.kept_again));
    }
    least += of_layer;
  }
  for (int s = 0; s < spec.stages; ++s)
    there_is += grounds[spec.ground.empty() ? 0 : at(spec.ground[at(s)])].memory + more -
                (spec.less.empty() ? 0 : spec.less[at(s)]);
  return least > there_is;
}

}  // namespace

bool some_fits(const std::vector<Ground>& grounds, const PartitionSpec& spec, std::int64_t more) {
  if (clearly_too_large(grounds, spec, more)) return false;
  return Cuts(grounds, spec).fits(more);
}

std::optional<std::int64_t> shortage(const std::vector<Ground>& grounds, const PartitionSpec& spec) {
  return Cuts(grounds, spec).shortage();
}

std::optional<Partition> partition(const std::vector<Ground>& grounds, const PartitionSpec& spec) {
  return Cuts(grounds, spec).best();
}

}  // namespace planscope::stages
