#pragma once
// Draws a graph on a Canvas; drawing only draws: geometry is layout.h, behaviour interaction.h.
#include "viz/canvas/display_list.h"
#include "viz/canvas/theme.h"
#include "viz/graph/layout.h"

namespace planscope::viz {

void draw_graph(Canvas&, const GraphModel&, const GraphView&, const Rect& area, const Theme&);

Colour category_colour(int category, const Theme&);  // beyond eight: the same again, each with another hatch
// So that categories differ without colours too: the first eight have one each.
inline Hatch category_hatch(int category) { return static_cast<Hatch>((category + category / 8) % hatch_count); }
Colour level_colour(ColourKind, const Theme&);

}  // namespace planscope::viz
