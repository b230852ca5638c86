#pragma once
// The other objective of the planner: the least device memory among the plans whose step is within a time.
//
// The memory that a plan may take is halved between what is known to be enough and what is known to be too little; each is a
// question for complete(), with one more memory row. It ends when the two are within one part in 256 of each other.
//
//   Result<LeastMemory> m = complete_in_least_memory(graph, plan, {}, cluster, {.time_limit_s = 60}, 400e3, stop);
//   if (m->found.status == CompletionStatus::complete) m->peak_bytes, m->lower_bound_bytes
#include <cstdint>
#include <functional>
#include <optional>

#include "planner/complete/complete.h"

namespace planscope {

struct LeastMemory {
  // As that of complete(). Impossible: no plan is within the time. Unknown, with a plan: the search was cut short, another
  // plan may take less.
  Completion found;
  std::optional<std::int64_t> peak_bytes;    // of its fullest device
  std::optional<std::int64_t> lower_bound_bytes;  // no plan within the time takes less, by the prediction; absent: not known
};

// Hears of each plan that takes less: its step, its peak, and the bound so far (0: not known).
using LessMemory = std::function<void(double step_us, std::int64_t peak_bytes, std::int64_t lower_bound_bytes)>;

// The largest peak of the device classes. Only for completions with a simulation.
std::int64_t peak_of(const Completion&);

// `within_us`: infinity for no limit. `settings.progress` is not called. Errors: those of complete().
Result<LeastMemory> complete_in_least_memory(const Graph&, const plan::Plan&, const std::vector<plan::Plan>& rows,
                                             const Cluster&, CompletionSettings settings, double within_us,
                                             const std::atomic<bool>& stop, const LessMemory& progress = {});

}  // namespace planscope
