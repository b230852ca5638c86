#pragma once
// Paints what Dear ImGui wants drawn into memory, by the CPU: the default back end of all canvases, because it needs no
// graphics driver and gives nearly the same pixels everywhere. Axis-aligned rectangles are filled by spans (pixels
// whose centre lies inside), other triangles by scan lines with interpolated colour and texture; blending is "over".
// One texture: the font atlas. Cost is bound by filled pixels: some milliseconds for a window.
#include <cstdint>
#include <vector>

#include "viz/canvas/image.h"

struct ImDrawData;

namespace planscope::viz {

struct AlphaTexture {  // the font atlas: coverage only
  const std::uint8_t* alpha = nullptr;
  int width = 0, height = 0;
};

// Resizes `target` to the frame buffer of `data` (DisplaySize × FramebufferScale) and paints everything on
// `background`.
void rasterise(const ImDrawData& data, const AlphaTexture& atlas, Colour background, Image& target);

}  // namespace planscope::viz
