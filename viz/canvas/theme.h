#pragma once
// The colours of everything that is shown, on both surfaces: one set for dark ones, one for light ones. What a colour says is always
// said a second way too (a sign, a hatch, a text), so that pictures survive grey.
//
//   canvas.fill(area, dark_theme().background);
//   hex_text(light_theme().accent)   // "#1565c0"
//   theme_css()                      // both sets as properties of a style sheet: `--accent: #4ea1f3;` …
#include <array>
#include <string>

#include "viz/canvas/colour.h"

namespace planscope::viz {

// What the words of a plan are written in.
struct ScriptColours {
  Colour word, policy, task, open, figure, comment;
};

struct Theme {
  // Of windows: `ground` lies behind the panels, whose own colour is `background`, as that of the canvases; `line` parts them.
  Colour ground, background, raised, line, selection, code;
  Colour panel, grid, text, dim, accent, on_block, outline, memory, capacity;  // panel: of what lies over a canvas
  Colour forward, backward, weight, update, communication;                     // contrast to `background`: 4.5 at least
  Colour idle, idle_cool_down, idle_imbalance, idle_data, idle_communication, idle_memory;
  Colour good, bad, warning;
  std::array<Colour, 8> categories;  // places, devices, rules; beyond eight: the same again, with other hatches
  ScriptColours script;
};

Theme dark_theme();
Theme light_theme();

std::string theme_css();

}  // namespace planscope::viz
