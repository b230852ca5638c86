#pragma once
// Draws one tensor on a Canvas; all geometry is layout.h, all behaviour interaction.h.
#include "viz/canvas/display_list.h"
#include "viz/canvas/theme.h"
#include "viz/tensor/layout.h"

namespace planscope::viz {

void draw_tensor(Canvas&, const TensorModel&, const TensorView&, const Rect& area, const Theme&);

}  // namespace planscope::viz
