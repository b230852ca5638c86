#pragma once
// What input does to a view of communication. Pure: the next view, and what is asked of the session.
//
// Mouse: the wheel zooms the matrix about the mouse and scrolls the list, dragging moves the matrix, a click on a
// cell selects the device that sends, a click on a communicator selects it and shows it alone; a click on a link
// selects what is sent over it, dragging over links restricts what is shown to a range of time. Keys: W and S zoom,
// arrows go to the next cell, Page Up and Page Down to the next communicator, M goes on to messages, time and bytes, F
// or Home shows everything, Escape deselects.
#include <string>
#include <vector>

#include "viz/canvas/scene.h"
#include "viz/traffic/layout.h"

namespace planscope::viz {

struct TrafficAnswer {
  TrafficView view;
  std::vector<std::string> commands;  // of the session
};

TrafficAnswer apply(TrafficView, const Input&, const TrafficModel&, const Rect& area);

TrafficView carry_over(TrafficView, const TrafficModel& before, const TrafficModel& now);

// What a screen shows beside the mouse, a fact a line.
std::vector<std::string> tooltip(const TrafficModel&, const TrafficView&);

}  // namespace planscope::viz
