#pragma once
// Integer values that depend on their place alone: 0, 1, 2 … and each of them several times.
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

// Whether `id` counts 0, 1, 2 … along its one dimension that is not 1.
bool counts_up(const Rewriter&, ValueId id);

// k if `id` is the one-dimensional 0, …, 0, 1, …, 1, 2, … with k of each (`arange(n k) // k`); else 0.
std::int64_t times_each(const Rewriter&, ValueId id);

}  // namespace planscope
