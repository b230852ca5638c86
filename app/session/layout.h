#pragma once
// The layout that surfaces ship with: on which side of the canvases a panel has its place, and whose tab it is.
//
//   for (const PanelPlace& p : shipped_layout()) …   // every panel once: those of a group in the order of their tabs
#include <span>
#include <string>
#include <string_view>

namespace planscope::session {

// `top`: always above everything. `start`: a part of the start page, where it has something to show; a surface may have it
// on the right too.
enum class Side { top, left, right, bottom, start };

struct PanelPlace {
  std::string panel;
  Side side = Side::bottom;
  int group = 0;      // panels of one group are tabs of each other, the first one in front
  bool shown = true;  // false: behind the menu, until somebody asks for it
};
std::span<const PanelPlace> shipped_layout();
std::string_view to_string(Side);

}  // namespace planscope::session
