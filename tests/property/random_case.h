#pragma once
// Random small transformers (grouped queries, experts, gates, dropout, tables of biases, tied and second heads, operators over the whole batch, …) and random plans for them: grids of up to six devices, several axes on one dimension and on
// several, uneven sizes, free axes, pipelines with several schedules, recomputation, ZeRO, single devices.
//
// Not every plan is legal: one that the tool refuses with a reason is an answer too.
#include <random>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"

namespace planscope::testing {

struct RandomCase {
  TransformerSizes sizes;
  std::vector<std::string> lines;  // of the plan
  bool pairs = false;              // devices are nearer to each other by twos, and only bytes count

  std::string plan() const;
  std::string text() const;  // for messages: model and plan
};

RandomCase random_case(unsigned seed);

// Cases with one thing less: a line, a layer, a smaller size.
std::vector<RandomCase> simpler(const RandomCase&);

}  // namespace planscope::testing
