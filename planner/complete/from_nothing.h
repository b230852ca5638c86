#pragma once
// A whole plan from nothing (planner/search/stages), as a Completion with the runners-up. complete() calls it.
#include "planner/complete/complete.h"

namespace planscope {

Result<Completion> from_nothing(const Graph&, const std::vector<plan::Plan>& rows, const Cluster&, const CompletionSettings&,
                                const std::atomic<bool>& stop);

// What a runner-up trades against the first: `2.1 % slower, 13.1 GiB less memory: more communication (all_reduce …)`.
std::string trade_text(const stages::Candidate& first, const stages::Candidate& other);

}  // namespace planscope
