#pragma once
// Writes a display list as one SVG 1.1 document: vector shapes and real text (DejaVu Sans, Verdana or the reader's
// sans-serif; Verdana has the same widths). The same list gives the same bytes. Never fails.
#include <string>

#include "viz/canvas/display_list.h"

namespace planscope::viz {

struct SvgOptions {
  Colour background{0, 0, 0, 0};  // alpha 0: none
  std::string title;              // read out by screen readers; may be empty
};

std::string to_svg(const DisplayList& list, Size size, const SvgOptions& options);

// Text for XML or HTML: & < > " as entities, other control characters than tabs and line ends left out.
std::string escaped(const std::string& text);

}  // namespace planscope::viz
