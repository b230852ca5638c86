#include "planner/simulate/closer_look.h"

#include <algorithm>

#include "planner/simulate/events.h"
#include "planner/simulate/finish.h"

namespace planscope {

struct CloserLook::Parts {
  const Program& program;
  const Cluster& cluster;
  SimulationOptions options;
  Parties parties;
  Steps steps;

  Parts(const Graph& g, const Program& p, const Cluster& c, const SimulationOptions& o)
      : program(p), cluster(c), options(o), parties(p), steps(make_steps(g, p, c, o, parties)) {}

  // Nothing but times.
  Result<Nanoseconds> step(const OtherTime& other) const {
    SimulationOptions plain;
    plain.detail_limit = 0;
    Result<Played> played = play(program, steps, plain, {.other = other});
    if (!played.value) return played.diagnostics;
    return played->simulation.step_ns;
  }
};

CloserLook::CloserLook(const Graph& g, const Program& p, const Cluster& c, const SimulationOptions& o)
    : parts_(std::make_unique<Parts>(g, p, c, o)) {}
CloserLook::~CloserLook() = default;

Result<DetailedSimulation> CloserLook::window(std::optional<Window> w) const {
  SimulationOptions options = parts_->options;
  if (w && most_ahead(parts_->program) > 0) {  // overlapping steps: what is shown begins later in what is played
    SimulationOptions plain;
    plain.detail_limit = 0;
    const Result<Played> first = play(parts_->program, parts_->steps, plain);
    if (!first.value) return first.diagnostics;
    w->from += first->origin, w->to += first->origin;
  }
  options.window = w;
  DetailedSimulation out;
  Result<Played> played = play(parts_->program, parts_->steps, options, {.kinds = &out.kinds, .all_gaps = true});
  if (!played.value) return played.diagnostics;
  out.simulation = finished(parts_->program, parts_->cluster, parts_->steps, std::move(*played), options);
  return out;
}

Result<AliveMoment> CloserLook::alive(int device_class, Window within) const {
  SimulationOptions plain;
  plain.detail_limit = 0;
  MemoryWatch all;
  const Result<Played> played = play(parts_->program, parts_->steps, plain, {.memory = &all, .device_class = device_class});
  if (!played.value) return played.diagnostics;
  const Nanoseconds origin = played->origin;
  const std::size_t fullest = all.fullest(within.from + origin, within.to + origin);
  MemoryWatch one(fullest);
  const Result<Played> again = play(parts_->program, parts_->steps, plain, {.memory = &one, .device_class = device_class});
  if (!again.value) return again.diagnostics;
  const MemoryWatch::Moment& m = all.moments().at(fullest);
  AliveMoment out{std::max(within.from, m.time - origin), m.slot, m.instruction, {}, {}};
  const auto shown = [&](std::optional<Nanoseconds> t) { return t ? std::optional(*t - origin) : t; };
  for (const MemoryWatch::Alive& a : one.alive()) {
    out.memory[a.kind] += a.bytes;
    out.owners.push_back({a.of, a.kind, a.bytes, shown(a.from), shown(a.to)});
  }
  std::stable_sort(out.owners.begin(), out.owners.end(), [](const AliveOwner& a, const AliveOwner& b) { return a.bytes > b.bytes; });
  return out;
}

Result<Nanoseconds> CloserLook::step_if(const Task& t) const {
  return parts_->step({t.device_class, t.segment, t.index, t.instruction, 0, true});
}

// A step grows by what a delay exceeds the slack, where that is all that happens; else it is searched for.
Result<Nanoseconds> CloserLook::slack(const Task& t) const {
  const auto later = [&](Nanoseconds by) { return parts_->step({t.device_class, t.segment, t.index, t.instruction, by, false}); };
  const Result<Nanoseconds> now = later(0);
  if (!now.value) return now;
  const auto harmless = [&](Nanoseconds by) { return by <= 0 || *later(by) <= *now; };
  const Nanoseconds beyond = std::max<Nanoseconds>(*now, 1);
  Nanoseconds none = 0, some = beyond;  // does no harm; does
  const Nanoseconds expected = beyond - (*later(beyond) - *now);
  if (harmless(expected)) none = std::max<Nanoseconds>(0, expected);
  if (!harmless(none + 1)) return none;
  while (some - none > 1) {
    const Nanoseconds middle = none + (some - none) / 2;
    (harmless(middle) ? none : some) = middle;
  }
  return none;
}

}  // namespace planscope
