#pragma once
// What the completion of plans (planner/constraint) is told of a model on a cluster: the model at any size, predictions of
// complete plans, and what devices store whatever open plans choose.
//
//   constraint::Judge judge = make_judge(graph, cluster, simulation, cache);     // all of them outlive it
//   constraint::complete(plan, rows, judge, limits);
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/program/materialize.h"
#include "planner/constraint/complete.h"
#include "planner/simulate/simulate.h"

namespace planscope::stages {

constraint::Judge make_judge(const Graph&, const Cluster&, const SimulationOptions&, MaterializeCache&);

std::vector<constraint::Peak> peaks_of(const Program&, const Simulation&);

}  // namespace planscope::stages
