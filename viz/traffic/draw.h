#pragma once
// Draws the communication of a step on a Canvas; all geometry is layout.h, all behaviour interaction.h.
#include "viz/canvas/display_list.h"
#include "viz/canvas/theme.h"
#include "viz/traffic/layout.h"

namespace planscope::viz {

void draw_traffic(Canvas&, const TrafficModel&, const TrafficView&, const Rect& area, const Theme&);

}  // namespace planscope::viz
