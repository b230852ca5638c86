#pragma once
// What operators bind on every axis of a space: under a strategy, and under a plan.
#include <string>
#include <vector>

#include "planner/search/splits/strategies.h"

namespace planscope::splits {

using BoundAxes = std::vector<BoundAxis>;  // by axis of the space

BoundAxes bound_by(const Space&, OpId, const Strategy&);

// What every operator of a plan binds.
Result<std::vector<BoundAxes>> bound_by(const Space&, const plan::Decisions&);

Result<plan::Decisions> decisions_of(const plan::ModelInfo&, const std::string& plan);

}  // namespace planscope::splits
