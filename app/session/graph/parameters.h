#pragma once
// What a plan does with every parameter of a model: where it is kept between steps (its home), and its update. How it
// comes to its readers, and how its gradient goes back, is in communication.h.
//
//   std::vector<ParameterFigures> p = parameter_figures(evaluation, facts, shares);   // parallel to Graph::parameters
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/graph/split_text.h"
#include "app/workbench/cost_shares.h"
#include "app/workbench/operator_facts.h"
#include "planner/evaluate/evaluate.h"

namespace planscope::session {

struct ParameterFigures {
  OpId reader = -1;  // the first that reads it; -1: none does
  bool trained = true;
  std::int64_t bytes = 0;           // whole
  std::int64_t home_bytes = 0;      // of one device that keeps it, with the older versions that are read
  std::vector<SplitText> splits;    // of its home
  std::vector<std::string> places;  // of its homes: `all[pipe=0]`
  Storage state = Storage::keep;    // where the state of the optimizer waits between steps
  double update_us = 0;             // of a step, on one device in the mean: the optimizer's step alone
};

std::vector<ParameterFigures> parameter_figures(const Evaluation&, const OperatorFacts&, const CostShares&);

}  // namespace planscope::session
