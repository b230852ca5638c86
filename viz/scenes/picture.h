#pragma once
// A canvas as a picture for reports, with a caption over it.
//
//   std::unique_ptr<Scene> s = make_scene("timeline");
//   if (s->load(bytes)) std::string svg = *scene_svg(*s, s->natural_size(), "gpt2 · 1f1b on dgx-h100x1", light_theme());
//
// A picture takes at most `most_picture_bytes`: what would take more has fewer pixels. Nothing: it takes more with so few
// that nothing could be read.
#include <cstddef>
#include <optional>
#include <string>

#include "viz/canvas/scene.h"

namespace planscope::viz {

inline constexpr std::size_t most_picture_bytes = 2'000'000;

// A picture whose shapes take more is embedded as pixels, where the program has a rasteriser.
std::optional<std::string> scene_svg(const Scene&, Size, const std::string& caption, const Theme&);

// The largest picture of that shape that has no more than 40 million pixels; the size itself, where it is no larger.
Size largest_png(Size);

bool makes_png();  // whether the program was built with a rasteriser; without one there are no PNG files
// `ratio`: pixels of the picture per pixel of the canvas; fewer where the picture would have more than 40 million.
std::optional<std::string> scene_png(const Scene&, Size, const std::string& caption, const Theme&, double ratio = 2);

}  // namespace planscope::viz
