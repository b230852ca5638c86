#pragma once
// Where the planner starts when it is given no plan: all devices of a cluster as data × tensor, sizes open, the batch
// split over data and the layers of the model by the template `tp` over tensor.
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan.h"

namespace planscope {

plan::Plan start_plan(const Graph&, const Cluster&);

}  // namespace planscope
