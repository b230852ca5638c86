#pragma once
// Schedule search: the shortest period of a pipeline's steady state, a schedule of all rounds made from it, and a bound on
// both.
//
// The period: one soon by regular patterns, or by placing tasks (modulo.h) where these miss the bound; then upwards from its
// bound (pattern.h), at each length first patterns that are regular along the stages
// (regular.h), then Z3 (periodic.h), whose "none" raises the bound. `optimal` is said where period and bound meet: no
// schedule that repeats every round has a shorter period. Then all rounds: the pattern unrolled, packed, improved
// (timeline.h, improve.h), and what Z3 can shorten or prove (finite.h) with little effort; all of the time limit with
// `prove_makespan`.
//
// Times that have no small common unit are rounded to 1/64 of the period for the search; the order found then gets the
// real times (retimed). The bound is raised with times rounded down (coarse.h), in more slots as long as period and bound
// differ: both are real, and `optimal` means the same.
//
// Rows (Case::order) are kept by all that is found. `lower_bound` counts those that hold for every micro-batch.
//
// Outcome: found; impossible (a round does not fit by itself: `reason` says on which device; or rows and memory together:
// it names the rows); unknown: the limit came first (`timeline` is still the best so far, if there is one). Where rows and
// memory leave nothing that repeats, but a schedule of the rounds that there are, that one is found: `pattern` is empty and
// `reason` names the rows.
//
//   const Answer a = search(c, {.seconds = 60});
//   a.pattern.period; a.lower_bound; a.optimal; a.timeline
#include <atomic>
#include <string>
#include <vector>

#include "planner/search/schedule/timeline.h"

namespace planscope::schedule {

struct Settings {
  double seconds = 60;
  bool prove_makespan = false;
  const std::atomic<bool>* stop = nullptr;
  // Of Z3 (solver/deadline.h), for a pattern and its proof, and a quarter of it to shorten all rounds; 0: as long as there is time.
  std::int64_t work = 0;
  std::int64_t slots = 64;  // a period of no more of the times' common unit is searched as it is
  const Clock* clock = nullptr;  // of `seconds`; none: the machine's
};

enum class Outcome : std::uint8_t { found, impossible, unknown };

struct Answer {
  Outcome outcome = Outcome::unknown;
  std::string reason;  // of impossible and unknown
  Problem problem;
  Pattern pattern;
  std::string found_by;  // "regular", "placed", "solver" or "sequence"
  std::int64_t lower_bound = 0;
  std::string bound_by;  // "load", "memory", "recurrence" or "solver"
  bool optimal = false;
  Timeline timeline;
  std::int64_t makespan = 0, makespan_bound = 0;
  std::int64_t work = 0;  // that was done (solver/deadline.h)
};

Answer search(const Case&, const Settings& = {});

}  // namespace planscope::schedule
