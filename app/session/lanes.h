#pragma once
// The lanes of a timeline as a session shows them: their order, which are folded, pinned or opened to their devices, and the part
// of the step that is selected.
//
//   viz::TimelineModel shown = arranged(*study.timeline({}), evaluation, look);
//   class_of_lane(evaluation, "pipe=0")   // 0; "device 3": the class that it belongs to
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/evaluate/evaluate.h"
#include "viz/timeline/model.h"

namespace planscope::session {

inline constexpr const char* kLaneOrders[] = {"plan", "name", "work", "idle", "peak"};

struct LaneLook {
  std::string order = "plan";  // one of kLaneOrders; the last three: most first
  std::set<std::string> folded, pinned, open;  // names of lanes
  std::optional<std::pair<double, double>> detail_us;  // where single operators of a long step are wanted
  bool operator==(const LaneLook&) const = default;
};

// The part of the step that is selected. Times of another plan are cut to its step.
struct TimeSelection {
  std::optional<std::pair<double, double>> us;  // from, to; equal: a moment. None: the whole step
  std::vector<std::string> lanes;               // by name; empty: all
  std::string stream;                           // of a single block
  bool operator==(const TimeSelection&) const = default;
};

std::optional<Window> window_of(const std::optional<std::pair<double, double>>& us);
// The selected part, within what is drawn of the step (of steps that overlap, to its last block); none selected: all of it.
Window selected_window(const std::optional<TimeSelection>&, const Simulation&);
// Numbers of the selected lanes' classes, ascending; none selected: all.
std::vector<int> selected_classes(const std::optional<TimeSelection>&, const Evaluation&);

int class_of_lane(const Evaluation&, std::string_view name);  // -1: there is no such lane
std::vector<int> lane_order(const Evaluation&, const LaneLook&);  // class numbers, pinned ones first
viz::TimelineModel arranged(const viz::TimelineModel&, const Evaluation&, const LaneLook&);

}  // namespace planscope::session
