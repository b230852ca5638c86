#pragma once
// From lines that exclude everything to a minimal set of them: each line is taken out in turn, and stays out if the rest
// still excludes everything (deletion: Marques-Silva, "Minimal Unsatisfiability", 2010). Constraint rows that are not in
// the set are left out of the plan meanwhile, so that the set alone is what excludes. Statements of the plan that are no
// rows stay in it; one is named only where the plan without it is known to be possible.
#include "planner/constraint/search.h"

namespace planscope::constraint {

struct Conflict {
  std::vector<int> lines;  // joint line numbers, ascending
  bool minimal = true;     // false: a limit ended the proof
};

Conflict minimise(const Joined&, std::vector<int> core, const Judge&, Models&, Evaluations&, const Deadline&,
                  const Limits&);

}  // namespace planscope::constraint
