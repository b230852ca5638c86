#pragma once
// The timeline inside a Dear ImGui window: reads ImGui's input, applies it to the view, draws into the window's draw
// list. Call it once a frame with the window that is to be filled current. Tooltips are drawn by the caller's window
// system.
#include "viz/canvas/imgui_painter.h"
#include "viz/timeline/draw.h"

namespace planscope::viz {

void timeline_canvas(const TimelineModel& model, const TimelineIndex& index, TimelineView& view,
                     const Theme& theme, const FontSet& fonts);

}  // namespace planscope::viz
