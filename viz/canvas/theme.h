#pragma once
// The colours of all canvases: one set for dark surfaces, one for light ones. What a colour says is always said a second way too
// (a sign, a hatch, a text), so that pictures survive grey.
#include <array>

#include "viz/canvas/colour.h"

namespace planscope::viz {

struct Theme {
  Colour background, panel, raised, grid, text, dim, accent, on_block, outline, memory, capacity;
  Colour forward, backward, weight, update, communication;
  Colour idle, idle_cool_down, idle_imbalance, idle_data, idle_communication, idle_memory;
  Colour good, bad, warning;
  std::array<Colour, 8> categories;  // places, devices, rules; beyond eight: the same again, with other hatches
};

Theme dark_theme();
Theme light_theme();

}  // namespace planscope::viz
