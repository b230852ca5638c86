#pragma once
// One Dear ImGui context with its fonts, drawn by the CPU rasteriser: what a window system needs to host a canvas. The
// host forwards input, asks for a frame when something happened, and shows the Image; it never draws by itself, so an
// idle canvas costs nothing. Several hosts may live in one program; not thread-safe.
//
//   ImGuiHost host(fonts);
//   host.resize({1240, 700}, 1.0);
//   host.mouse_move({200, 80});
//   host.wheel(1);
//   const Image& picture = host.frame(background, [&](const FontSet& set) { timeline_canvas(…, set); });
//   if (host.wants_frame()) …  // the canvas has not settled: ask for another frame soon
#include <imgui.h>

#include <functional>
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

  void mouse_move(Point at);
  void mouse_leave();
  void mouse_button(ImGuiMouseButton button, bool down);
  void wheel(double notches_up, double notches_left = 0);
  void key(ImGuiKey key, bool down);

  // Runs one frame: `draw` is called inside a borderless window that fills the picture.
  const Image& frame(Colour background, const std::function<void(const FontSet&)>& draw);

  // Whether a press or release still waits for its own frame.
  bool wants_frame() const { return settle_ > 0; }

 private:
  void bake_fonts();

  ImGuiContext* context_;
  FontFiles files_;
  FontSet fonts_;
  double ratio_ = 0;
  int settle_ = 0;
  AlphaTexture atlas_;
  Image image_;
};

}  // namespace planscope::viz
