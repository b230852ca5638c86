#pragma once
// From rows that leave no whole plan to a minimal set of them: each is taken out in turn, and stays out if the rest still
// leaves none (deletion: Marques-Silva, "Minimal Unsatisfiability", 2010), as far as time allows.
#include "planner/search/stages/stages.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {

// The search without an explanation in rows.
Result<Found> search_rows(const Graph&, const Cluster&, const Settings&, const Deadline&);

std::vector<constraint::PlanLine> conflict_of(const Graph&, const Cluster&, Settings, const Deadline&);

}  // namespace planscope::stages
