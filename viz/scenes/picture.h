#pragma once
// A canvas as a picture for reports, with a caption over it.
//
//   std::unique_ptr<Scene> s = make_scene("timeline");
//   if (s->load(bytes)) std::string svg = scene_svg(*s, s->natural_size(), "gpt2 · 1f1b on dgx-h100x1", light_theme());
#include <optional>
#include <string>

#include "viz/canvas/scene.h"

namespace planscope::viz {

std::string scene_svg(const Scene&, Size, const std::string& caption, const Theme&);

// Nothing: the program was built without a rasteriser. `ratio`: pixels of the picture per pixel of the canvas.
std::optional<std::string> scene_png(const Scene&, Size, const std::string& caption, const Theme&, double ratio = 2);

}  // namespace planscope::viz
