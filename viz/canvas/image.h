#pragma once
// A picture in memory: rows from top to bottom, each pixel four bytes red, green, blue, alpha in this order.
#include <cstdint>
#include <vector>

#include "viz/canvas/colour.h"

namespace planscope::viz {

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // width * height * 4

  Colour at(int x, int y) const {
    const std::uint8_t* p = &rgba[(static_cast<std::size_t>(y) * width + x) * 4];
    return {p[0], p[1], p[2], p[3]};
  }
  friend bool operator==(const Image&, const Image&) = default;
};

}  // namespace planscope::viz
