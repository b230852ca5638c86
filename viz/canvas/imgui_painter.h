#pragma once
// Paints a display list into a Dear ImGui draw list, with the clip rectangle of that list in force.
#include "viz/canvas/display_list.h"

struct ImDrawList;
struct ImFont;

namespace planscope::viz {

struct FontSet {  // one font a style, baked at the pixels of the screen
  ImFont* small = nullptr;
  ImFont* normal = nullptr;
  ImFont* strong = nullptr;
};

// `origin`: where the point (0, 0) of the list lies in ImGui's coordinates.
void paint(const DisplayList& list, ImDrawList& target, const FontSet& fonts, Point origin = {});

}  // namespace planscope::viz
