#pragma once
// The plan and its constraint files as one plan, in which every source line has a number of its own, so that whatever
// binding says about a line leads back to the user's file. Lines of the planner are dropped.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "planner/constraint/complete.h"
#include "planner/constraint/row_sets.h"

namespace planscope::constraint {

struct Joined {
  plan::Plan plan;              // statements with joint line numbers
  plan::Plan bound;             // the same; what a declaration asks of open values behind `where` is a row of its own
  std::vector<PlanLine> lines;  // by joint line number; [0] is no line
  std::vector<int> own;         // joint line numbers that came from constraint files

  const PlanLine& at(int line) const { return lines[static_cast<std::size_t>(line)]; }
};

// `keep_automatic`: lines of the planner as well.
Joined join_lines(const plan::Plan&, const std::vector<plan::Plan>& rows, bool keep_automatic = false);

// With file and line as the user knows them.
std::vector<Diagnostic> located(const Joined&, std::vector<Diagnostic>);

// Rows: lines that only restrict. `require`, `forbid`, `order`, the `where` of a declaration. Without one the plan still
// means something, and what is possible with it is possible.
Rows rows_of(const Joined&);        // joint line numbers, ascending
Rows order_rows_of(const Joined&);  // those that put tasks in order: `order A < B`, `forbid order A < B`
bool leaves_order(const Joined&);   // `order ?` stands in it

// Statements that are no rows and declare nothing: without one the plan is another plan, but one.
bool can_drop(const Joined&, int line);
Joined without(const Joined&, int line);

// `bound` with no rows but these `forbid` and `order` rows, which what is carried out has to keep; others are judged apart.
plan::Plan carried_out(const Joined&, const std::set<int>& lines);

// The joined plan as the user's: what constraint files require and forbid is left out, their other statements and what they
// put in order stand at its end as `auto` lines; original line numbers.
plan::Plan unjoined(const Joined&, const plan::Plan& completed, const std::string& file);

}  // namespace planscope::constraint
