#pragma once
// Rows that cannot be kept, by their names: against each other and the precedences of a case, or against its memory.
//
//   std::optional<Diagnostic> d = contradiction(c);     // "the rows cannot all be kept: f0[1] before b0[0] (order[0]), …"
//   const Feasible f = feasible(c, p, deadline);        // f.answer == Periodic::Answer::none; f.rows
//
// Times do not matter here: where any schedule keeps the rows, one does that runs one task after the other.
#include "planner/search/schedule/periodic.h"
#include "planner/search/schedule/timeline.h"

namespace planscope::schedule {

// Runs that wait for each other in a circle; or what could only be kept if nothing repeated: f0[m+1] before b0[m] before
// f0[m+1]. Told from one cycle; nothing if there is none.
std::optional<Diagnostic> contradiction(const Case&);

// Whether something repeats, or all rounds can be run, within precedences, rows and memory.
struct Feasible {
  Periodic::Answer answer = Periodic::Answer::unknown;
  Pattern pattern;        // found: of `p`, at its times
  Timeline timeline;      // found: likewise
  std::vector<int> rows;  // none: a set of rows without one of which it could be (as far as time allows to say)
};
Feasible feasible_pattern(const Case&, const Problem& p, const Deadline&);
Feasible feasible_timeline(const Case&, const Problem& p, const Deadline&);

// `order[0], order[3]`.
std::string names(const Case&, const std::vector<int>& rows);

}  // namespace planscope::schedule
