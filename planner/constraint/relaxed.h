#pragma once
// What taking one row out of a conflict comes to: the new optimum, or the conflicts that still stand; of memory rows, what
// they would have to allow.
//
//   ExplainedConflicts c = explain_conflicts(rows, sets, effects, {deadline, some, some}, some);   // some: deadline.within_work(…)
//   c.all[0].lines[1].without.optimum->step_us   // all rows but this one can be kept, at this step
//   c.all[0].lines[0].needs->bytes               // what plans that keep the other rows of the conflict need at least
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/constraint/row_sets.h"

namespace planscope::constraint {

struct PlanLine {
  std::string file;
  int line = 0;
  std::string text;
  bool operator==(const PlanLine&) const = default;
};

// The best plan found under some rows.
struct Optimum {
  double step_us = 0;
  std::int64_t peak_bytes = 0;  // of the device class that needs most
  bool proven = false;          // no plan that keeps the rows has a shorter step
  double lower_bound_us = 0;    // none has a shorter one than that; 0: not known
};

// The least memory that plans under some rows need at a place.
struct MemoryNeed {
  std::int64_t limit_bytes = 0;  // what there is, or what a row allows
  std::int64_t bytes = 0;
  std::string where;    // the devices that need it: `pipe=2`; empty: all alike
  bool proven = false;  // no plan needs less; else: none of those tried does
};

struct Relaxed {
  Answer possible = Answer::unknown;  // whether all rows but this one can be kept
  std::optional<Optimum> optimum;     // yes
  std::vector<int> conflicts;         // no: those that stand without it, by position
  std::optional<std::int64_t> bytes;  // of a conflict over memory: what is needed at least without this row
};

struct ConflictLine {
  PlanLine line;
  Relaxed without;
  std::optional<MemoryNeed> needs;  // of a memory row: under the other lines of the conflict
};

struct ConflictLines {
  Rows rows;                        // that the lines stand for
  std::vector<ConflictLine> lines;  // by row; perhaps statements that are no rows between them
  std::optional<MemoryNeed>
      memory;           // under all of them, where it is more than a device has: that is in the way as well
  bool minimal = true;  // false: a limit ended the proof
};

struct ExplainedConflicts {
  std::vector<ConflictLines> all;
  bool complete = false;  // there are no others
};

constexpr int kDeviceMemory = 0;  // as a row: what a device has, the smallest of them

struct RowEffects {
  // The shortest step under these rows.
  std::function<std::optional<Optimum>(const Rows&, const Deadline&)> best;
  // What a memory row would have to allow under these others; nothing: it is no memory row, or nothing is known.
  std::function<std::optional<MemoryNeed>(int row, const Rows& others, const Deadline&)> need;
  std::function<bool(int row)> limits_memory;  // false: `need` says nothing of it
  // Until when it is looked for what a conflict needs, where it hangs on that whether it is one; null: as for the rest.
  const Deadline* needs_until = nullptr;
  std::function<PlanLine(int row)> line;
};

// The minimal conflicts of rows that leave nothing. What taking rows out comes to is found until `effects_until`: what is not known
// then stays unknown.
ExplainedConflicts explain_conflicts(const Rows&, RowSets&, const RowEffects&, const ConflictTimes&,
                                     const Deadline& effects_until);

}  // namespace planscope::constraint
