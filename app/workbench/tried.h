#pragma once
// One more statement behind a plan: what it would change, or why it cannot stand there. The answer to "what if" and to "why
// not", with figures of the same simulator that judged the plan.
//
// The statement counts as the plan's last line, so it wins against the lines before it; one that declares what a line of the
// plan declares (`let S`, `axis mb`, `grid G`, `devices`) stands in that line's place. Verdicts:
//   forbidden    a row of the plan (`forbid`, `require`, `order`) does not allow it: `row` is that line; of a memory row that
//                the plan keeps and the change breaks, `over_bytes` says by how much
//   unavailable  it cannot be: a frozen factor, sizes that do not divide, an axis that the place lacks, … `reason` says why
//   dearer, cheaper   the step takes longer, or less, by more than `tie_share` of it
//   tie          neither
//
//   BasePlan base{graph, plan, cluster, cache, judged};                   // the plan and what it comes to
//   Tried t = try_statement(base, *plan::parse_statement("trans L recompute"));
//   if (t.verdict == EditVerdict::dearer) t.delta_us, t.delta_bytes, t.time.communication
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/cost_shares.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

enum class EditVerdict { forbidden, unavailable, dearer, tie, cheaper };
std::string_view to_string(EditVerdict);

constexpr double tie_share = 0.001;

struct BasePlan {
  const Graph& graph;
  plan::Plan plan;  // complete
  const Cluster& cluster;
  MaterializeCache& cache;
  const Evaluation& judged;  // of the plan
  double time_limit_s = 60;
  const std::atomic<bool>& stop;
};

struct TrafficChange {
  std::string kind;  // `all_reduce`, …, `send`
  std::int64_t group = 1;
  std::int64_t bytes = 0, count = 0;  // of one device of every class
};

struct Tried {
  std::string statement;
  EditVerdict verdict = EditVerdict::unavailable;
  double delta_us = 0;           // of the step; 0 where it cannot be
  std::int64_t delta_bytes = 0;  // of the peak of the fullest device
  std::optional<StatementRef> row;
  std::int64_t over_bytes = 0;
  std::string reason;                  // one line: of what is not forbidden too
  StepParts time;                      // differences: they sum to delta_us
  std::vector<TrafficChange> traffic;  // that differ
  Memory memory;                       // differences at the peaks, by kind: they sum to delta_bytes
  std::vector<StatementRef> broken;    // memory rows that the plan breaks with and without it
  std::vector<Diagnostic> notes;       // what the tool says of the line itself
  std::optional<Evaluation> judged;        // with it
  bool ended_early = false;            // a limit ended its completion: a better one is possible
};

// A statement that leaves something open is completed first, with everything else of the plan as it is.
Tried try_statement(const BasePlan&, const plan::Statement&);

// The same of a line of text; one that does not parse is unavailable.
Tried try_text(const BasePlan&, const std::string& statement);

// The plan without the statement of a line, as `without line 7`: a `use` with all its lines.
Tried try_without(const BasePlan&, int line);

// What a diagnostic says, on one line, with `this statement` for the number of a line that its user has not written.
std::string said_of(const Diagnostic&, int line);

// Whether one is to be listed before the other: what can be, by the step that it comes to; what a row forbids; what cannot be.
bool cheaper(const Tried&, const Tried&);

// `waits for communication +1.20 ms (all_reduce of 2 +256 KiB), compute −310 µs`: the largest parts first.
std::string parts_text(const Tried&);

}  // namespace planscope
