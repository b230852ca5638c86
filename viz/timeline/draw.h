#pragma once
// Draws a timeline on a Canvas; drawing only draws: all geometry is layout.h, all behaviour interaction.h.
#include "viz/canvas/display_list.h"
#include "viz/canvas/theme.h"
#include "viz/timeline/layout.h"

namespace planscope::viz {

Colour colour_of(BlockKind kind, const Theme& theme);

void draw_timeline(Canvas& canvas, const TimelineModel& model, const TimelineIndex& index, const TimelineView& view,
                   const Rect& area, const Theme& theme);

Colour colour_of(MemoryKind kind, const Theme& theme);
Hatch hatch_of(BlockKind kind);  // of idle time by its cause, of work by its kind
constexpr bool is_hatched(BlockKind kind) { return kind != BlockKind::forward; }  // the others differ from it without colours
Hatch hatch_of(MemoryKind kind);

// Everything that occurs: kinds of blocks and of memory, the capacity; in as many rows as it needs.
void draw_legend(Canvas& canvas, const TimelineIndex& index, const Rect& area, const Theme& theme);
double legend_height(const TimelineIndex& index, double width);

}  // namespace planscope::viz
