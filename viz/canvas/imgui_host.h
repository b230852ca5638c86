#pragma once
// Turns display lists into pixels: one Dear ImGui context with its fonts, drawn by the CPU rasteriser. A host keeps what its pictures
// have in common, so that the next one costs little; several may live in one program; not thread-safe.
//
//   ImGuiHost host(fonts);
//   host.resize({1240, 700}, 1.0);
//   const Image& picture = host.frame(canvas.list(), background);
#include <imgui.h>

#include <string>

#include "viz/canvas/imgui_painter.h"
#include "viz/canvas/rasteriser.h"

namespace planscope::viz {

struct FontFiles {  // TrueType files; a file that does not exist is replaced by ImGui's own bitmap font
  std::string regular, bold;
};

class ImGuiHost {
 public:
  explicit ImGuiHost(FontFiles files);
  ~ImGuiHost();
  ImGuiHost(const ImGuiHost&) = delete;
  ImGuiHost& operator=(const ImGuiHost&) = delete;

  // `ratio`: pixels of the screen per pixel of the picture; another ratio bakes the fonts again.
  void resize(Size size, double ratio);

  const Image& frame(const DisplayList& list, Colour background);  // valid until the next one

 private:
  void bake_fonts();

  ImGuiContext* context_;
  FontFiles files_;
  FontSet fonts_;
  double ratio_ = 0;
  AlphaTexture atlas_;
  Image image_;
};

}  // namespace planscope::viz
