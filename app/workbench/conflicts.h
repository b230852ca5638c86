#pragma once
// Lines that contradict each other, as text and JSON: each set as `a.plan: lines 4 (require ?t <= 2) and 5 (require memory(all) <= 1GiB)
// cannot both hold.` Lines of other files than the first one's are named with theirs. Behind it, for each line what taking it out
// comes to.
//
//   conflicts_text(completion.conflicts, completion.status == CompletionStatus::impossible, completion.all_conflicts)
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planner/constraint/relaxed.h"

namespace planscope {

using Conflicts = std::vector<constraint::ConflictLines>;

nlohmann::ordered_json conflicts_json(const Conflicts&);
// Of each: what plans need of a device's memory; null: memory is not in the way.
nlohmann::ordered_json scarce_memory_json(const Conflicts&);
// What taking out one line of a set comes to: `step 1.04 ms, peak memory 4.67 MiB`.
std::string relaxed_text(const constraint::ConflictLine&, const Conflicts&);
// Not `impossible`: no plan that was tried keeps them, but there are more; `all`: there are no other conflicts;
// `sizes_of_data`: of a model that has them (planner/simulate/alive.h).
std::string conflicts_text(const Conflicts&, bool impossible, bool all, bool sizes_of_data = false);

}  // namespace planscope
