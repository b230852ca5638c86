#pragma once
// A simulated step as a timeline: a lane per device class with its compute stream, its single operators as far as they are
// recorded, its communication streams and its memory, by kind where that is known. A pipeline is read by its slots (f0 f1 b0 …),
// a step of at most `slots_from` slots a class by its operators alone. Gaps are waiting; links are messages between stages.
//
//   viz::TimelineModel t = timeline(graph, program, simulation);
//   viz::to_svg(t, {1200, "1F1B"});
//   t.details[block.instruction].title;      // what a block stands for
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/simulate/simulate.h"
#include "viz/timeline/model.h"

namespace planscope {

constexpr std::size_t slots_from = 6;

struct TimelineParts {
  const Cluster* cluster = nullptr;  // with it, communication also says its kind, group, bytes and modelled time
  const std::vector<std::vector<Memory>>* kinds = nullptr;  // of memory: DetailedSimulation::kinds
  std::optional<Window> window = {};                        // the simulation has single operators there alone
};

viz::TimelineModel timeline(const Graph&, const Program&, const Simulation&, const TimelineParts& = {});

// Whether every operator and message of the step is recorded.
bool is_detailed(const Simulation&);

// The whole step as one SVG picture.
std::string timeline_svg(const Graph&, const Program&, const Simulation&, const std::string& title);

}  // namespace planscope
