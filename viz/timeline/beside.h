#pragma once
// Timelines over each other on one axis, to compare plans, versions, runs and traces: lanes of all, named by whose they
// are; or one as a ghost over another, a thin stream below the other's work, with the difference of every block in its
// facts.
//
//   TimelineModel both = beside({{"1f1b", &a}, {"gpipe", &b}}, Alignment::time);
//   TimelineModel over = beside({{"1f1b", &a}, {"run:3", &m, 0}}, Alignment::task);
#include <string>
#include <vector>

#include "viz/timeline/model.h"

namespace planscope::viz {

// `time`: all begin at 0, in real time. `share`: each is as long as the longest, so that parts of the step can be
// compared. `task`: lanes of one stage stand together, and a task (stage, kind, micro-batch) lies where the first
// timeline has it, as long as there; of tasks in another order, as many as can stay in line. Facts keep real times.
enum class Alignment { time, share, task };

struct NamedTimeline {
  std::string name;
  const TimelineModel* model;
  int over = -1;  // as a ghost over this one of the list; -1: with lanes of its own
};

std::string lane_beside(const std::string& whose, const std::string& lane);  // the name of a lane there

TimelineModel beside(const std::vector<NamedTimeline>& all, Alignment alignment);

}  // namespace planscope::viz
