#pragma once
// Models, clusters and rows of the tests of whole plans.
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan.h"
#include "planner/search/stages/configuration.h"
#include "planner/search/stages/model_shape.h"
#include "planner/simulate/simulate.h"

namespace planscope::testing {

Graph sample(const std::string& name);     // of sample_models
Cluster cluster(const std::string& name);  // a preset
stages::ModelShape shape_of(const Graph&);
std::vector<plan::Plan> rows(const std::string& text);
// Random cuts of so many layers, random ones of which are computed again or offloaded.
void cut_anywhere(stages::Configuration&, int layers, std::mt19937&);
// A tenth of a millisecond passes whenever somebody looks.
struct LookedAtClock : Clock {
  std::int64_t wall_us() const override { return steady_us(); }
  std::int64_t steady_us() const override { return now_us += 100; }
  mutable std::atomic<std::int64_t> now_us = 0;
};
Simulation predicted(const Graph&, const Cluster&, const std::string& script);

}  // namespace planscope::testing
