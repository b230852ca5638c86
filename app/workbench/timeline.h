#pragma once
// A simulated step as a timeline: a lane per device class with its compute stream, its communication streams and its
// memory. A pipeline is read by its slots (f0 f1 b0 …), a step without one by its instructions: the compute stream has
// slots where a class runs more than `slots_from` of them, single instructions otherwise (if the simulation has them).
// Gaps are waiting.
//
//   viz::TimelineModel t = timeline(graph, program, simulation);
//   viz::to_svg(t, {1200, "1F1B"});
//   t.details[block.instruction].title;      // what a block stands for
#include <string>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"
#include "viz/timeline/model.h"

namespace planscope {

constexpr std::size_t slots_from = 6;

// With the cluster, communication also says its kind, group, bytes and modelled time.
viz::TimelineModel timeline(const Graph&, const Program&, const Simulation&, const Cluster* = nullptr);

// The whole step as one SVG picture.
std::string timeline_svg(const Graph&, const Program&, const Simulation&, const std::string& title);

}  // namespace planscope
