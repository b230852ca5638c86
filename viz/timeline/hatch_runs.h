#pragma once
// Hatches what is drawn as many narrow columns, as a curve or a folded row is: neighbours of about one height get one
// hatch, which lies within all of them, so that there are few.
//
//   HatchRuns runs(canvas, theme.background, Hatch::falling);
//   for (const Rect& column : columns) runs.add(column);  // from the left
//   runs.end();
#include <algorithm>

#include "viz/canvas/display_list.h"

namespace planscope::viz {

class HatchRuns {
 public:
  HatchRuns(Canvas& canvas, Colour colour, Hatch pattern) : canvas_(&canvas), colour_(colour), pattern_(pattern) {}

  void add(const Rect& column) {
    const double top = std::max(run_.y, column.y), bottom = std::min(run_.bottom(), column.bottom());
    const bool touches = !run_.empty() && column.x <= run_.right() + 1;
    if (touches && 2 * (bottom - top) >= std::max(run_.height, column.height)) {
      run_ = {run_.x, top, column.right() - run_.x, bottom - top};
      return;
    }
    end();
    run_ = column;
  }

  void end() {
    constexpr double least = 3;  // a side of what a hatch can be seen in
    if (run_.width >= least && run_.height >= least) canvas_->hatch(run_, colour_, pattern_);
    run_ = {};
  }

 private:
  Canvas* canvas_;
  Colour colour_;
  Hatch pattern_;
  Rect run_;
};

}  // namespace planscope::viz
