#pragma once
// Whether a step is small enough for its sums to mean something.
#include <vector>

#include "planner/simulate/steps.h"

namespace planscope {

// All that one run of a segment can add to the sums of a class; as floating numbers, which do not wrap.
struct StepLoad {
  double ns = 0, bytes = 0, sent = 0;
  void operator+=(const StepLoad& o) { ns += o.ns, bytes += o.bytes, sent += o.sent; }
};

StepLoad load_of(const SegmentSteps&, const std::vector<Traffic>&);  // of one run; the traffic: Steps::traffic

// Why the step, with these loads of its device classes, takes too long or is too large; empty: it is not.
Diagnostic uncountable(const std::vector<StepLoad>& classes);

}  // namespace planscope
