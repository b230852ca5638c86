#include "viz/canvas/colour.h"

#include <cstdio>

namespace planscope::viz {

std::string hex_text(Colour c) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  return text;
}

}  // namespace planscope::viz
