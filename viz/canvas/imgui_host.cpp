#include "viz/canvas/imgui_host.h"

#include <algorithm>
#include <cfloat>
#include <fstream>
#include <utility>

namespace planscope::viz {
namespace {

// Frames after an event: ImGui's queue may hold a press and its release for two frames, hovering settles in a third.
constexpr int settle_frames = 3;

constexpr ImWchar glyphs[] = {0x20,   0x7e,   0xa0,   0xff,   0x370,  0x3ff,  0x2010, 0x2027, 0x2190,
                              0x2193, 0x2200, 0x2265, 0x25a0, 0x25cf, 0x2713, 0x2717, 0};

ImFont* load(ImFontAtlas& atlas, const std::string& file, TextStyle style, double ratio) {
  ImFontConfig config;
  config.OversampleH = config.OversampleV = 1;
  config.PixelSnapH = true;
  const TextMetrics m = metrics(style);
  const auto pixels = static_cast<float>((m.ascent + m.descent).value * ratio);
  if (!file.empty() && std::ifstream(file).good()) {
    if (ImFont* font = atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, glyphs)) return font;
  }
  config.SizePixels = static_cast<float>(13 * ratio);
  return atlas.AddFontDefault(&config);
}

}  // namespace

ImGuiHost::ImGuiHost(FontFiles files) : context_(ImGui::CreateContext()), files_(std::move(files)) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NoMouseCursorChange;
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLinesUseTex = false;  // plain vertex colours: the rasteriser's fast path
  style.WindowPadding = {0, 0};
  style.WindowBorderSize = 0;
}

ImGuiHost::~ImGuiHost() { ImGui::DestroyContext(context_); }

void ImGuiHost::bake_fonts() {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  fonts_.normal = load(*io.Fonts, files_.regular, TextStyle::normal, ratio_);
  fonts_.small = load(*io.Fonts, files_.regular, TextStyle::small, ratio_);
  fonts_.strong = load(*io.Fonts, files_.bold, TextStyle::strong, ratio_);
  io.FontGlobalScale = static_cast<float>(1 / ratio_);
  unsigned char* alpha = nullptr;
  io.Fonts->GetTexDataAsAlpha8(&alpha, &atlas_.width, &atlas_.height);
  atlas_.alpha = alpha;
}

void ImGuiHost::resize(Size size, double ratio) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(size.width), static_cast<float>(size.height)};
  io.DisplayFramebufferScale = {static_cast<float>(ratio), static_cast<float>(ratio)};
  if (ratio != std::exchange(ratio_, ratio)) bake_fonts();
  settle_ = std::max(settle_, 1);
}

void ImGuiHost::mouse_move(Point at) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMousePosEvent(static_cast<float>(at.x), static_cast<float>(at.y));
  settle_ = std::max(settle_, 1);
}

void ImGuiHost::mouse_leave() {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  settle_ = std::max(settle_, 1);
}

void ImGuiHost::mouse_button(ImGuiMouseButton button, bool down) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMouseButtonEvent(button, down);
  settle_ = settle_frames;
}

void ImGuiHost::wheel(double notches_up, double notches_left) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddMouseWheelEvent(static_cast<float>(notches_left), static_cast<float>(notches_up));
  settle_ = settle_frames;
}

void ImGuiHost::key(ImGuiKey key, bool down) {
  ImGui::SetCurrentContext(context_);
  ImGui::GetIO().AddKeyEvent(key, down);
  settle_ = settle_frames;
}

const Image& ImGuiHost::frame(Colour background, const std::function<void(const FontSet&)>& draw) {
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = 1.0f / 60;  // nothing is animated: pictures depend on input only
  ImGui::NewFrame();
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(io.DisplaySize);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::Begin("canvas", nullptr, flags);
  draw(fonts_);
  ImGui::End();
  ImGui::Render();
  rasterise(*ImGui::GetDrawData(), atlas_, background, image_);
  settle_ = std::max(0, settle_ - 1);
  return image_;
}

}  // namespace planscope::viz
