#pragma once
// A whole plan from nothing (planner/search/stages), as a Completion with the runners-up.
//
//   Result<WholePlan> w = whole_plan(graph, rows, cluster, {.global_batch = 1024, .time_limit_s = 60}, stop);
//   w->completion.plan; w->candidates[1].step_us
#include "app/workbench/complete.h"
#include "planner/search/stages/stages.h"

namespace planscope {

struct WholePlanSettings {
  std::int64_t global_batch = 0;  // 0: that of the model
  double time_limit_s = 60;
  stages::Templates templates;
  CostModel costs;
};

struct WholePlan {
  Completion completion;
  std::vector<stages::Candidate> candidates;  // the first is the plan; each of another shape, by step time
};

Result<WholePlan> whole_plan(const Graph&, const std::vector<plan::Plan>& rows, const Cluster&,
                             const WholePlanSettings&, const std::atomic<bool>& stop);

// What a runner-up trades against the first: `2.1 % slower, 13.1 GiB less memory: more communication (all_reduce …)`.
std::string trade_text(const stages::Candidate& first, const stages::Candidate& other);

}  // namespace planscope
