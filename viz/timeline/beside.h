#pragma once
// Timelines over each other on one axis, to compare plans, versions and runs: lanes of all, named by whose they are.
//
//   TimelineModel both = beside({{"1f1b", &a}, {"gpipe", &b}}, Alignment::time);
#include <string>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

// `time`: all begin at 0, in real time. `share`: each is as long as the longest, so that parts of the step can be compared.
enum class Alignment { time, share };

struct NamedTimeline {
  std::string name;
  const TimelineModel* model;
};

TimelineModel beside(const std::vector<NamedTimeline>& all, Alignment alignment);

}  // namespace planscope::viz
