#pragma once
// What input does to a view. Pure: the next view from this view and an input; no clock, no window system.
//
// Control and dragging a block: another order of tasks (reorder.h). Mouse: wheel zooms about the mouse, Shift+wheel
// pans, Ctrl+wheel scrolls lanes, dragging moves both, a click selects (an empty place deselects), dragging with Shift
// draws up an area. Keys: W/S zoom about the selection, A/D pan, F fits the selection (a block, else the selected time)
// and then everything, Home fits everything, `.`/`,` next/previous block, Up/Down the lane above or below, M marks the
// time under the mouse at the nearest edge (the last two marks span what is measured), Escape deselects and takes the
// marks away.
#include "viz/timeline/layout.h"

namespace planscope::viz {

enum class TimelineKey { zoom_in, zoom_out, left, right, fit, fit_all, next, previous, lane_up, lane_down, deselect, mark };

struct TimelineInput {
  std::optional<Point> mouse;  // none: outside
  bool pressed = false;        // the left button went down since the last input
  bool released = false;
  double wheel = 0;  // notches, up is positive
  bool shift = false, control = false;
  std::vector<TimelineKey> keys;
};

TimelineView apply(TimelineView view, const TimelineInput& input, const TimelineModel& model, const Rect& area);

TimelineView fit(TimelineView view, const TimelineModel& model);
bool shows_all(const TimelineView& view, const TimelineModel& model);

// The same view of another version of the model: zoom and scroll stay, what showed everything still does.
TimelineView carry_over(TimelineView view, const TimelineModel& before, const TimelineModel& now);

// A part of the step, and of its lanes (by name; empty: all of them).
struct SelectedArea {
  TimeRange time;  // begin == end: a moment
  std::vector<std::string> lanes;
};
// The area that is drawn up, at the edges of blocks where these are near; nothing: none is.
std::optional<SelectedArea> drawn_area(const TimelineView& view, const TimelineModel& model, const Rect& area);

// Selects a block and moves the view as little as needed for it to be seen.
TimelineView select(TimelineView view, const TimelineModel& model, const BlockRef& ref, const Rect& area);

// What a screen shows beside the mouse: label, kind, times, lane; one fact a line.
std::vector<std::string> tooltip(const TimelineModel& model, const BlockRef& ref);
// The same of a lane's memory at a time: how much, of what kinds; at its peak, what needs most.
std::vector<std::string> memory_tooltip(const TimelineModel& model, int lane, Microseconds t);

}  // namespace planscope::viz
