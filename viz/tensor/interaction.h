#pragma once
// What input does to a view of a tensor. Pure: the next view, and what is asked of the session.
//
// Mouse: a click on a tile selects the devices that hold it (a click beside deselects), and the wheel scrolls. A button of the
// header goes one index further. A click on a slider goes to the index under the mouse; a drag goes where it is let go. A click on
// the name of an axis asks for a number. Keys: arrows go to the next tile, or side; Page Up and Page Down to the next block of a
// dimension that is not drawn; `,` and `.` to the next index of a free axis; N asks for a number; D draws other dimensions; F draws
// the whole of them or what this index has; Home begins again; Escape deselects.
#include <string>
#include <vector>

#include "viz/canvas/scene.h"
#include "viz/tensor/layout.h"

namespace planscope::viz {

struct TensorAnswer {
  TensorView view;
  std::vector<std::string> commands;  // of the session
};

TensorAnswer apply(TensorView, const Input&, const TensorModel&, const Rect& area);

// The same view of another model: what is not there any more is let go.
TensorView carry_over(TensorView, const TensorModel& before, const TensorModel& now);

// What a screen shows beside the mouse, a fact a line.
std::vector<std::string> tooltip(const TensorModel&, const TensorView&);

}  // namespace planscope::viz
