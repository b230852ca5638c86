#pragma once
// Draws a timeline on a Canvas; drawing only draws: all geometry is layout.h, all behaviour interaction.h.
#include "viz/canvas/display_list.h"
#include "viz/timeline/layout.h"

namespace planscope::viz {

struct TimelineTheme {
  Colour background, panel, grid, text, dim, accent, on_block, outline, memory, capacity;
  Colour forward, backward, weight, update, communication;
  Colour idle, idle_data, idle_communication, idle_memory;
};

TimelineTheme dark_theme();
TimelineTheme light_theme();
Colour colour_of(BlockKind kind, const TimelineTheme& theme);

void draw_timeline(Canvas& canvas, const TimelineModel& model, const TimelineIndex& index, const TimelineView& view,
                   const Rect& area, const TimelineTheme& theme);

}  // namespace planscope::viz
