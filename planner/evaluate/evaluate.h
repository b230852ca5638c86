#pragma once
// What a plan comes to on a cluster: its Program, the prediction of a step, the memory rows that the prediction breaks, and, if it
// is asked for, the verdict. The one way in which the surfaces, answers of the planner and tests look at a plan, so that the same
// plan has the same figures and the same diagnostics everywhere.
//
//   MaterializeCache cache;
//   Result<Evaluation> e = evaluate(graph, plan, cluster, cache);
//   if (e.ok()) e->simulation.step_us(), peak_bytes(e->simulation), verify(*e).report.verdict;
//
// Errors: those of binding, materialize() and simulate(); arguments of the plan are open (decide() says which). The value is absent
// then. Warnings: a memory row that the prediction does not keep, and what each step warns of. A thread that is asked to stop
// (StopScope) leaves inside each step by Stopped.
#include <optional>
#include <string>
#include <vector>

#include "engine/program/materialize.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"

namespace planscope {

// A row `require memory(…) <= …` that the prediction does not keep.
struct BrokenRow {
  int statement = -1;  // index into the decisions' plan.statements
  std::int64_t peak = 0, limit = 0;  // bytes
  std::string word = {};  // before the peak: memory_word()
};

struct Evaluation {
  Materialized made;
  Simulation simulation;
  SimulationOptions options;            // that it was predicted with
  std::vector<BrokenRow> broken = {};
};

Result<Evaluation> evaluate(const Graph&, const plan::Plan&, const Cluster&, MaterializeCache&, const SimulationOptions& = {});
// From what binding the plan gave: nothing is bound twice.
Result<Evaluation> evaluate(const plan::Plan&, Decided, const Cluster&, const SimulationOptions& = {});

// The two steps of evaluate(), for a caller that needs the Program alone, or that has one already.
//
//   Result<Materialized> made = program_of(std::move(decided), cluster);
//   if (made.ok()) predict(plan, *made, cluster);
//
// The Program of a bound plan. Errors: those of materialize().
Result<Materialized> program_of(Decided, const Cluster&);

// The prediction of a Program's step, and the memory rows that it breaks.
struct Prediction {
  Simulation simulation;
  std::vector<BrokenRow> broken = {};
};
// Errors: those of simulate(). Warnings: as evaluate().
Result<Prediction> predict(const plan::Plan& as_written, const Materialized&, const Cluster&, const SimulationOptions& = {});

struct Verified {
  VerifyReport report;
  double seconds = 0;  // that it took
};
Verified verify(const Evaluation&);

std::int64_t peak_bytes(const Simulation&);  // of the device class that needs most
std::int64_t bytes_sent(const Simulation&);  // in a step, by all devices together

std::vector<BrokenRow> broken_memory_rows(const Materialized&, const Simulation&);
// The same as warnings, at the lines of the rows; and where no row is broken but an operator has no rule for its memory, that it is
// not known whether the rows hold.
std::vector<Diagnostic> broken_row_warnings(const plan::Plan& as_written, const Materialized&, const std::vector<BrokenRow>&);

// What verifying has found, as errors at the lines that it is about.
std::vector<Diagnostic> failures_as_errors(const VerifyReport&);

// A plan is verified before it is handed out as an answer: why this one may not be. Nothing: its program does what the model does,
// or reads parameters as old as the plan says.
std::optional<Diagnostic> not_to_hand_out(const Materialized&);

// A statement of the plan as its user knows it: of a template's line, the `use`.
StatementRef written_line(const plan::Plan& as_written, const plan::Decisions&, int statement);

}  // namespace planscope
