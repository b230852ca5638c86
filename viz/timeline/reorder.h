#pragma once
// A block that is dragged along its lane asks for another order of tasks: earlier, before the block that it is dropped in
// front of; later, after the block that it is dropped behind. Pure.
//
//   reorder(model, layout, view.moving.value(), *view.mouse)   // {"b(S[1])[mb=2]", "f(S[1])[mb=1]", true, …}
#include <optional>
#include <string>

#include "viz/timeline/layout.h"

namespace planscope::viz {

struct Reorder {
  std::string task, other;  // as order rows name them
  bool before = true;       // the task comes before the other one; else after
  Microseconds at;          // where it would go
};

// The task that a block is a run of; empty: it is of none, as idle time and communication.
std::string task_of(const TimelineModel&, const BlockRef&);

// Nothing: dropped there the block stays where it is, or it is not over its lane.
std::optional<Reorder> reorder(const TimelineModel&, const TimelineLayout&, const BlockRef& moved, Point at);

}  // namespace planscope::viz
