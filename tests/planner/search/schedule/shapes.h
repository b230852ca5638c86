#pragma once
// Cases for tests: pipelines of the kinds that the literature names, and small random ones.
#include <random>

#include "planner/search/schedule/problem.h"

namespace planscope::schedule::testing {

// Blocks in a chain: `f0 … fn-1 bn-1 … b0`, forward 1 and backward 3 units of time; forward takes a unit of memory.
Case v_shape(int devices, std::int64_t memory, int micro_batches);
// A block on all devices before and behind it.
Case m_shape(int devices, std::int64_t memory, int micro_batches);
// Two of the first, in opposite directions.
Case x_shape(int devices, std::int64_t memory, int micro_batches);

struct RandomKinds {
  int tasks = 4;
  int devices = 2;
  int most_time = 3;
  bool diamonds = false;   // branches that meet again
  bool distances = false;  // precedences between micro-batches
  bool streams = false;
};
// Some relations between random blocks, for every micro-batch or for some; often they cannot all be kept.
void add_random_rows(std::mt19937& random, Case&, int count, bool of_some);

// A relation of the case that a schedule, or what repeats, does not keep: told from the case alone.
std::optional<std::string> broken_row(const Case&, const Problem&, const std::vector<std::int64_t>& starts);
std::optional<std::string> broken_row_of_pattern(const Case&, std::int64_t period,
                                                 const std::vector<std::int64_t>& starts);

Case random_case(std::mt19937& random, const RandomKinds&);

}  // namespace planscope::schedule::testing
