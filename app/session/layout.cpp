#include "app/session/layout.h"

#include <algorithm>
#include <vector>

#include "app/session/panels/panels.h"

namespace planscope::session {

std::span<const PanelPlace> shipped_layout() {
  static const std::vector<PanelPlace> all = [] {
    std::vector<PanelPlace> out = {
        {"chips", Side::top, 0},
        {"modules", Side::left, 1},
        {"documents", Side::left, 1},
        {"workspace", Side::left, 1},
        {"operator", Side::right, 2},
        {"verify", Side::right, 2},
        {"planner", Side::right, 2},
        {"search", Side::right, 2, false},
        {"history", Side::right, 2},
        {"drafts", Side::start, 2, false},
        {"recent", Side::start, 2, false},
        {"samples", Side::start, 2, false},
        {"own_model", Side::start, 2, false},
        {"place", Side::right, 2, false},
        {"try", Side::right, 2, false},
        {"commands", Side::right, 2, false},
        {"preferences", Side::right, 2, false},
        {"reference", Side::right, 2, false},
        {"tour", Side::right, 2, false},
        {"script", Side::bottom, 3},
        {"constraints", Side::bottom, 3},
        {"templates", Side::bottom, 3},
        {"problems", Side::bottom, 4},
        {"runs", Side::bottom, 4},
        {"trial", Side::bottom, 4},
        {"compare", Side::bottom, 4},
        {"jobs", Side::bottom, 4},
        {"statement", Side::bottom, 4},
    };
    // The others are tables of what the canvases draw: whoever wants them asks for them.
    for (const PanelInfo& p : panels()) {
      const auto is = [&](const PanelPlace& o) { return o.panel == p.id; };
      if (std::none_of(out.begin(), out.end(), is)) out.push_back({p.id, Side::bottom, 4, false});
    }
    return out;
  }();
  return all;
}

std::string_view to_string(Side side) {
  switch (side) {
    case Side::top: return "top";
    case Side::left: return "left";
    case Side::right: return "right";
    case Side::bottom: return "bottom";
    case Side::start: return "start";
  }
  return "";
}

}  // namespace planscope::session
