#pragma once
// The order of a pattern at other times: who runs before whom on each resource, and who takes memory only after whom has
// given it back, as precedences with distance; then the least period that they allow.
//
// Nothing if they contradict each other, which those of a legal pattern do not.
#include "planner/search/schedule/pattern.h"

namespace planscope::schedule {

// `pattern` is legal for `coarse`, which differs from `p` in times alone.
std::optional<Pattern> retimed(const Problem& p, const Problem& coarse, const Pattern& pattern);

}  // namespace planscope::schedule
