#pragma once
// A periodic schedule: task t of round n starts at period * n + start[t], for all n (a repetend: Tessel, HPCA'24; modulo
// scheduling: Rau, MICRO'94). It is legal if it is legal in the steady state, with infinitely many rounds; cut to rounds 0 …
// R-1 it stays legal, memory included, because every task that gives back follows the one that took.
//
// Bounds of the period, each of which no periodic schedule beats:
//   load        the busiest resource's work in a round
//   memory      a device holds at least (sum over what is taken: amount * longest path from take to give-back), on average
//               over a period at most its memory: the period is at least their quotient, rounded up
//   recurrence  cycles of precedences with distance: length / distance
//
//   const PeriodBound b = period_bound(p);      // b.period, b.by
//   std::optional<std::string> wrong = violation(p, pattern);
#include <string>

#include "planner/search/schedule/problem.h"

namespace planscope::schedule {

struct Pattern {
  std::int64_t period = 0;
  std::vector<std::int64_t> start;  // by task; the least is 0
  bool operator==(const Pattern&) const = default;
};

struct PeriodBound {
  std::int64_t period = 1;
  std::string by;  // "load", "memory" or "recurrence"
  int device = -1;
};

PeriodBound period_bound(const Problem&);

// What is wrong with a pattern, in the words of the case; nothing if it is legal.
std::optional<std::string> violation(const Problem&, const Pattern&);

// Of one round, from its first start to its last end: what the two ends of all rounds cost.
std::int64_t length(const Problem&, const Pattern&);

// Memory that the steady state holds on a device, at most.
std::int64_t steady_memory(const Problem&, const Pattern&, int device);

// The starts of all tasks if task t starts at `offset[t]` modulo the period: what gives memory back as early as what it waits
// for allows, what takes memory as late as what waits for it allows. Nothing if precedences with distance forbid it.
std::optional<Pattern> pattern_at(const Problem&, std::int64_t period, const std::vector<std::int64_t>& offset);

}  // namespace planscope::schedule
