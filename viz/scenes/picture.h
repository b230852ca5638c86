#pragma once
// A canvas as a picture for reports, with a caption over it.
//
//   std::unique_ptr<Scene> s = make_scene("timeline");
//   if (s->load(bytes)) std::string svg = scene_svg(*s, s->natural_size(), "gpt2 · 1f1b on dgx-h100x1", light_theme());
#include <optional>
#include <string>

#include "viz/canvas/scene.h"

namespace planscope::viz {

// At most 2 MB: a picture whose shapes take more is embedded as pixels, where the program has a rasteriser.
std::string scene_svg(const Scene&, Size, const std::string& caption, const Theme&);

// The largest picture of that shape of which scene_png draws every pixel; the size itself, where it is no larger.
Size largest_png(Size);

// Nothing: the program was built without a rasteriser. `ratio`: pixels of the picture per pixel of the canvas; fewer
// where the picture would have more than 40 million.
std::optional<std::string> scene_png(const Scene&, Size, const std::string& caption, const Theme&, double ratio = 2);

}  // namespace planscope::viz
