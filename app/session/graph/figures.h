#pragma once
// What a plan does with every operator of a model, in the form in which a graph shows it: how it is split, where it runs, what it takes
// and what is communicated. Of one evaluation; everything is by operator, so that any folding is a sum.
//
//   PlanFigures f = plan_figures(evaluation, cluster);
//   f.splits[f.of[op].splits[0]]     {.factor = "out", .blocks = 4, .axis = "tensor"}
#include <cstdint>
#include <string>
#include <vector>

#include "app/session/graph/communication.h"
#include "app/session/graph/parameters.h"

namespace planscope::session {

struct OperatorFigures {
  std::vector<int> splits;  // into PlanFigures::splits
  int place = -1;           // into PlanFigures::places; -1: it does not run
  Storage storage = Storage::keep;
  double time_us = 0;   // of a step, on one device that runs it
  double kept_bytes = 0;  // on such a device, at its peak; with the parameters that it is the first to read, and their optimizer state
  int statement = 0;    // line that decided one of its splits; 0: none did
};

struct PlanFigures {
  std::vector<OperatorFigures> of;  // by operator
  std::vector<SplitText> splits;
  std::vector<std::string> places;  // in program order
  std::vector<ParameterFigures> parameters;  // parallel to Graph::parameters
  std::vector<Communication> communications;
};

PlanFigures plan_figures(const Evaluation&, const Cluster&);

}  // namespace planscope::session
