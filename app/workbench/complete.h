#pragma once
// From a plan with open arguments to a complete one (planner/constraint), and what it comes to: program and prediction.
// A plan without open arguments is judged alike: a memory row that does not hold makes it impossible, and is the
// conflict.
//
//   Result<Completion> c = complete(graph, plan, {}, cluster, {.time_limit_s = 60}, stop);
//   if (c->status == CompletionStatus::complete) print(c->plan), c->simulation->step_us();
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/program/materialize.h"
#include "planner/constraint/choices.h"
#include "planner/constraint/complete.h"
#include "planner/constraint/relaxed.h"
#include "planner/simulate/simulate.h"

namespace planscope {

enum class CompletionStatus { complete, impossible, unknown };
std::string_view to_string(CompletionStatus);

struct CompletionSettings {
  double time_limit_s = 60;
  bool keep_automatic = false;    // a plan that its own automatic lines complete is taken as it is, not planned again
  constraint::Now now = nullptr;  // what a known plan has where this one leaves a choice: no worse one is the answer
  CostModel costs = {};           // that plans are judged by (stored_costs(), profiling.h)
  std::int64_t relaxing_work = constraint::Limits{}.relaxing_work;  // planner/constraint/complete.h
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
};

// `rows`: more statements, mostly constraint rows, that count as if they stood in the plan; conflicts name their files.
// Errors: those of the plan itself.
Result<Completion> complete(const Graph&, const plan::Plan&, const std::vector<plan::Plan>& rows, const Cluster&,
                            const CompletionSettings&, const std::atomic<bool>& stop);

}  // namespace planscope
