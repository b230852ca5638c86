#pragma once
// Plans of the points that a search will come to, made on all processors before it does: what they predict is known then, and the
// search, which goes by what it found so far, finds the same, in less time.
//
//   std::vector<Candidate> made = make_ahead(plans, points, {3, 0, 2}, deadline, [](double step_us) { … });   // by bound
#include <functional>
#include <vector>

#include "planner/search/stages/point_plans.h"

namespace planscope::stages {

// Of `which` of the points, those with the least bounds first, until these are above what was found; the plans that fit.
// `better` hears of the step of each that is shorter than those before, on any thread, one call at a time.
std::vector<Candidate> make_ahead(const PointPlans&, const std::vector<Point>&, const std::vector<std::size_t>& which,
                                  const Deadline&, const std::function<void(double step_us)>& better);

}  // namespace planscope::stages
