#include "viz/timeline/imgui_timeline.h"

#include <imgui.h>

#include <utility>

#include "viz/timeline/interaction.h"

namespace planscope::viz {
namespace {

constexpr std::pair<ImGuiKey, TimelineKey> keys[] = {
    {ImGuiKey_W, TimelineKey::zoom_in},       {ImGuiKey_S, TimelineKey::zoom_out},
    {ImGuiKey_A, TimelineKey::left},          {ImGuiKey_D, TimelineKey::right},
    {ImGuiKey_LeftArrow, TimelineKey::left},  {ImGuiKey_RightArrow, TimelineKey::right},
    {ImGuiKey_F, TimelineKey::fit},           {ImGuiKey_Home, TimelineKey::fit_all},
    {ImGuiKey_Period, TimelineKey::next},     {ImGuiKey_Comma, TimelineKey::previous},
    {ImGuiKey_UpArrow, TimelineKey::lane_up}, {ImGuiKey_DownArrow, TimelineKey::lane_down},
    {ImGuiKey_Escape, TimelineKey::deselect},
};

TimelineInput read_input(const Rect& area) {
  const ImGuiIO& io = ImGui::GetIO();
  TimelineInput input;
  const Point mouse{io.MousePos.x - area.x, io.MousePos.y - area.y};
  if (ImGui::IsMousePosValid() && (io.MouseDown[0] || io.MouseReleased[0] || ImGui::IsWindowHovered()))
    input.mouse = mouse;
  input.pressed = ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  input.released = ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  input.wheel = ImGui::IsWindowHovered() ? io.MouseWheel : 0;
  input.shift = io.KeyShift;
  input.control = io.KeyCtrl;
  for (const auto& [key, meaning] : keys) {
    if (ImGui::IsKeyPressed(key)) input.keys.push_back(meaning);
  }
  return input;
}

}  // namespace

void timeline_canvas(const TimelineModel& model, const TimelineIndex& index, TimelineView& view,
                     const Theme& theme, const FontSet& fonts) {
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const Rect area{0, 0, size.x, size.y};
  view = apply(view, read_input({at.x, at.y, size.x, size.y}), model, area);
  Canvas canvas;
  draw_timeline(canvas, model, index, view, area, theme);
  paint(canvas.list(), *ImGui::GetWindowDrawList(), fonts, {at.x, at.y});
}

}  // namespace planscope::viz
