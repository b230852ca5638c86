#pragma once
// The plan and its constraint files as one plan, in which every source line has a number of its own, so that whatever
// binding says about a line leads back to the user's file. Lines of the planner are dropped.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "planner/constraint/complete.h"

namespace planscope::constraint {

struct Joined {
  plan::Plan plan;              // statements with joint line numbers
  std::vector<PlanLine> lines;  // by joint line number; [0] is no line
  std::vector<int> own;         // joint line numbers that came from constraint files

  const PlanLine& at(int line) const { return lines[static_cast<std::size_t>(line)]; }
};

Joined join_lines(const plan::Plan&, const std::vector<plan::Plan>& rows);

// With file and line as the user knows them.
std::vector<Diagnostic> located(const Joined&, std::vector<Diagnostic>);

// Whether a line only restricts: `require`, `forbid`, an order row, or a `where` behind something else. Such a line can be taken out
// and the plan still means something.
bool restricts(const Joined&, int line);

// The plan without some lines; of those that declare something, without their `where`. False if nothing can be taken
// out of a line.
bool can_drop(const Joined&, int line);
Joined without(const Joined&, const std::set<int>& lines);

// The joined plan as the user's: rows of constraint files are left out, their other statements stand at its end as
// `auto` lines; original line numbers.
plan::Plan unjoined(const Joined&, const plan::Plan& completed, const std::string& file);

}  // namespace planscope::constraint
