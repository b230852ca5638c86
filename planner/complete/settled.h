#pragma once
// A plan that questions can be asked about: as it stands where it is complete (with the lines that a planner wrote, if it has
// some), else completed as `planscope plan` does; with what it comes to.
//
//   Result<Settled> s = settle(graph, plan, cluster, cache, {.time_limit_s = 60}, stop);
//   if (s->judged) s->plan, s->judged->simulation.step_us();
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "planner/complete/complete.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

struct Settled {
  plan::Plan plan;
  std::optional<Evaluation> judged;  // nothing: no complete plan was found
  CompletionStatus status = CompletionStatus::unknown;
  std::string reason;                                // unknown: what ended the search
  std::vector<constraint::ConflictLines> conflicts;  // impossible
  bool all_conflicts = false;                        // there are no others
};

// What is alive at each peak is recorded. Errors: those of the plan. Memory rows that a complete plan breaks are warnings.
Result<Settled> settle(const Graph&, const plan::Plan&, const Cluster&, MaterializeCache&, const CompletionSettings&,
                       const std::atomic<bool>& stop);

}  // namespace planscope
