#pragma once
// The timeline as a canvas that a surface hosts (viz/canvas/scene.h). The ids of its marks: `line N`, what that
// statement decides; `operator N`, what computes it; `tensor N` and `communicator NAME`, what sends it; `lane
// NAME`, which runs it; `time A B`, a selected part of the step in microseconds, `within NAME`, the lanes that it
// is of, and `stream NAME` where it is one block; `find TEXT`, `found_operator N` and `found_tensor N`, what a search
// has found (search.h). A view that is set may also say `block`, as [lane, stream,
// number]: it goes there. Keys beside those of interaction.h: E memory, C critical path, Z and Shift+Z the view
// before and after, O folds the lane of the selection (or under the mouse), P pins it, X shows its devices.
#include <memory>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::unique_ptr<Scene> make_timeline_scene();

}  // namespace planscope::viz
