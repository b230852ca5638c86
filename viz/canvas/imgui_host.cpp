#include "viz/canvas/imgui_host.h"

#include <fstream>
#include <utility>

namespace planscope::viz {
namespace {

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
}

const Image& ImGuiHost::frame(const DisplayList& list, Colour background) {
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
  paint(list, *ImGui::GetWindowDrawList(), fonts_);
  ImGui::End();
  ImGui::Render();
  rasterise(*ImGui::GetDrawData(), atlas_, background, image_);
  return image_;
}

}  // namespace planscope::viz
