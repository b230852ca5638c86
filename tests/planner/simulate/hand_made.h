#pragma once
// Programs written by hand: pipelines of equal or unequal stages, with figures that can be worked out on paper.
#include <cstdint>
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope::testing {

enum class Schedule { gpipe, one_f_one_b };

struct Pipeline {
  Graph graph;
  Program program;
  Cluster cluster;
  SimulationOptions options;  // every efficiency 1
};

// A stage for each entry: a product that takes so many nanoseconds forward and as many backward. Communication takes no
// time. An activation has 4,000 bytes; backward reads the operand of the product.
Pipeline make_pipeline(const std::vector<std::int64_t>& stage_ns, std::int64_t micro_batches, Schedule);

}  // namespace planscope::testing
