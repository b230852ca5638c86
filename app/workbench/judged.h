#pragma once
// A complete plan, as far as it can be judged without running it: what it becomes, how long a step takes and what memory it
// needs. The one way in which use cases try a plan: what is compared has been predicted alike.
//
//   MaterializeCache cache;
//   Result<Judged> j = judge(graph, plan, cluster, cache);
//   if (j.ok()) j->simulation.step_us(), peak_bytes(j->simulation);
#include <optional>
#include <string>
#include <vector>

#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"

namespace planscope {

struct Judged {
  Materialized made;
  Simulation simulation;
  SimulationOptions options;  // that it was predicted with
};

// Errors: those of materialize() and simulate(). The value is absent then.
Result<Judged> judge(const Graph&, const plan::Plan&, const Cluster&, MaterializeCache&, const SimulationOptions& = {});

std::int64_t peak_bytes(const Simulation&);  // of the device class that needs most

// A plan is verified before it is handed out as an answer: why this one may not be. Nothing: its program does what the model does,
// or reads parameters as old as the plan says.
std::optional<Diagnostic> not_to_hand_out(const Materialized&);

// A row `require memory(…) <= …` that the prediction does not keep.
struct BrokenRow {
  int statement = -1;  // index into the decisions' plan.statements
  std::int64_t peak = 0, limit = 0;
  bool at_least = false;  // of the peak: an operator has no rule for its memory
};
std::vector<BrokenRow> broken_memory_rows(const Materialized&, const Simulation&);

// A statement of the plan as its user knows it: of a template's line, the `use`.
StatementRef written_line(const plan::Plan& as_written, const plan::Decisions&, int statement);

}  // namespace planscope
