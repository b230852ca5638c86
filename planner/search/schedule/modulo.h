#pragma once
// Patterns by placing one task after the other (modulo scheduling: Rau, MICRO'94): in the order of a list each task starts as
// soon as what is placed before it allows, or, if only what follows it is placed, as late as that allows, where its resources
// are free modulo the period; next to what is there already, so that no gaps are left in which nothing fits, or at once. The
// list is improved by moving single tasks: first until no device holds more than its memory, then for a shorter round.
// Works on times as they are, whatever their unit; says nothing about what it does not find.
//
//   std::optional<Pattern> s = modulo_pattern(p, period, 1000, deadline);   // legal, or nothing
#include "planner/search/schedule/pattern.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

std::optional<Pattern> modulo_pattern(const Problem&, std::int64_t period, int tries, const Deadline&);

}  // namespace planscope::schedule
