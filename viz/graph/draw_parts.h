#pragma once
// Around the graph itself: breadcrumbs, legend, minimap. Of viz/graph alone.
#include "viz/graph/draw.h"

namespace planscope::viz {

void draw_bar(Canvas&, const GraphModel&, const GraphView&, const GraphAreas&, const Theme&);
void draw_legend(Canvas&, const GraphModel&, const GraphAreas&, const Theme&);
void draw_minimap(Canvas&, const GraphModel&, const GraphView&, const GraphAreas&, const Theme&);

// The shares of its categories, or how much it is, as a band.
void draw_band(Canvas&, const GraphModel&, int node, const Rect&, const Theme&);

}  // namespace planscope::viz
