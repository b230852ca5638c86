#pragma once
// Whether a legal pattern with a given period exists: modulo scheduling as a finite-domain problem for Z3 (QF_FD).
//
// A task starts at period * k + r. Variables: r in order encoding; for each edge how many periods lie between its ends, as
// many as r asks for at least (ceil((r_from + span - r_to) / period)); k of tasks in rings (links.h).
//   resources   in each slot of the period at most one task of a resource, exactly one where its load is the period
//   edges       k_to = k_from + periods of the edge; in rings >=
//   memory      in each slot of the period: what rounds that have begun took less what they gave back, a linear sum over
//               these variables, is at most the device's memory
// Patterns that are the same up to a rotation in time, or up to swapping two like pipelines that run in opposite directions,
// are tried once.
//
// "None" is a proof. Where a device gives back memory in a task that does not follow the one that took it, it would not be one:
// the answer is "unknown" then.
//
//   const Periodic a = solve_period(p, 8, deadline);
//   a.answer == Periodic::Answer::found; a.pattern
#include "planner/search/schedule/pattern.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

struct Periodic {
  enum class Answer : std::uint8_t { found, none, unknown } answer = Answer::unknown;
  Pattern pattern;
};

Periodic solve_period(const Problem&, std::int64_t period, const Deadline&);

}  // namespace planscope::schedule
