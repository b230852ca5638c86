#pragma once
// The front door of the planner: a plan with open arguments is filled, an empty one is found from nothing, and what comes out is
// verified before it is handed out, with its program and its prediction. A plan without open arguments is judged alike: a memory row
// that does not hold makes it impossible, and is the conflict.
//
// One budget: the user's seconds and the flag that asks to stop. The best plan so far is kept whenever it ends; `progress` hears of it
// and of the bound as they come.
//
//   Result<Completion> c = complete(graph, plan, {}, cluster, {.time_limit_s = 60}, stop);
//   if (c->status == CompletionStatus::complete) print(c->plan), c->simulation->step_us();
#include <functional>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/program/materialize.h"
#include "planner/constraint/choices.h"
#include "planner/constraint/complete.h"
#include "planner/constraint/relaxed.h"
#include "planner/search/stages/stages.h"
#include "planner/simulate/simulate.h"

namespace planscope {

enum class CompletionStatus { complete, impossible, unknown };
std::string_view to_string(CompletionStatus);

struct CompletionSettings {
  double time_limit_s = 60;
  std::int64_t global_batch = 0;     // from nothing: of the model's batch dimension; 0: that of the model
  stages::Templates templates = {};  // from nothing: what plans may have
  bool keep_automatic = false;    // a plan that its own automatic lines complete is taken as it is, not planned again
  constraint::Now now = nullptr;  // what a known plan has where this one leaves a choice: no worse one is the answer
  CostModel costs = {};           // that plans are judged by (stored_costs(), profiling.h)
  bool explain = true;            // the conflicts, where an open plan is impossible
  std::int64_t relaxing_work = constraint::Limits{}.relaxing_work;  // planner/constraint/complete.h
  // Called, on a thread of the search, when there is a better plan; 0: not known.
  std::function<void(double step_us, double lower_bound_us)> progress = {};
};

// What the search for the order of a plan's tasks came to, in predicted times: how often micro-batches follow each other in
// the steady state of what it found, and what none that repeats beats.
struct OrderSearch {
  double period_us = 0, lower_bound_us = 0;
  bool optimal = false;
  std::string bound_by;  // schedule::Answer
};

struct Completion {
  CompletionStatus status = CompletionStatus::unknown;
  plan::Plan plan;                     // complete, if the status is
  std::optional<Materialized> result;  // of it
  std::optional<Simulation> simulation;
  // No plan of the space is faster, by the cost model; absent where that is not known: with a profile, shards may take
  // less than their share of the whole. Where only the order is open, at least what the busiest device computes.
  std::optional<double> lower_bound_us;
  std::optional<OrderSearch> order;  // where `order ?` was searched and something was found
  std::string reason;                // unknown: what ended the search
  // Minimal sets of lines that cannot all hold, and what taking one out comes to. Impossible: no plan keeps them; unknown:
  // none that was tried does.
  std::vector<constraint::ConflictLines> conflicts;
  bool all_conflicts = false;  // there are no others
  // From nothing: the plan and its runners-up, each of another shape, by step time.
  std::vector<stages::Candidate> candidates;
};

// A plan without statements is found from nothing. `rows`: more statements, mostly constraint rows, that count as if they stood in the plan; conflicts name their files.
// Errors: those of the plan itself.
Result<Completion> complete(const Graph&, const plan::Plan&, const std::vector<plan::Plan>& rows, const Cluster&,
                            const CompletionSettings&, const std::atomic<bool>& stop);

}  // namespace planscope
