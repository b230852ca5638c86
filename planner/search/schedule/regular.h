#pragma once
// Patterns that do not depend on how many devices there are: along a *run*, a chain of like blocks that steps from device to
// device (the forward passes of a pipeline's stages, its backward passes), starts grow by one and the same amount. 1F1B, its
// bidirectional form (Chimera), interlaced pipelines and 3F1B are of this kind. What is searched is one number per run and
// one between runs, whatever the number of stages: depth first, smallest first, at a given period.
//
//   std::optional<Pattern> s = regular_pattern(p, period, {.nodes = 200'000});   // legal, or nothing
//
// That nothing is found means nothing: the solver (periodic.h) decides.
#include "planner/search/schedule/pattern.h"
#include "planner/solver/deadline.h"

namespace planscope::schedule {

std::optional<Pattern> regular_pattern(const Problem&, std::int64_t period, std::int64_t nodes, const Deadline&);

}  // namespace planscope::schedule
