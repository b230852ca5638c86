#pragma once
// Keys of causal attention over blocks of queries. Internal to engine/program.
#include <optional>
#include <vector>

#include "engine/program/build/work.h"

namespace planscope::build {

// Whether a statement splits the factor over some axis.
bool splits_factor(const Work&, OpId, int factor);

// An operator whose queries an axis splits into blocks that come one after the other reads, of the keys, those up to the
// end of the block, if it can see no others and no statement splits them.
std::optional<FactorBinding> prefix_of(const Work&, const Op&, int axis, const std::vector<FactorBinding>& bound);

}  // namespace planscope::build
