#include "viz/canvas/display_list.h"

#include <utility>

namespace planscope::viz {

HatchLines lines_of(Hatch pattern) {
  switch (pattern) {
    case Hatch::rising: return {.rising = true};
    case Hatch::falling: return {.falling = true};
    case Hatch::vertical: return {.vertical = true, .spacing = 4};
    case Hatch::crossed: return {.rising = true, .falling = true};
    case Hatch::horizontal: return {.horizontal = true, .spacing = 3};
    case Hatch::grid: return {.vertical = true, .horizontal = true, .spacing = 4};
    case Hatch::dense: return {.rising = true, .spacing = 3};
    case Hatch::wide: return {.vertical = true, .spacing = 9};
  }
  return {};
}

void Canvas::fill(const Rect& rect, Colour colour, double radius) {
  if (!rect.empty()) shapes_.emplace_back(FillShape{rect, colour, radius});
}

void Canvas::stroke(const Rect& rect, Colour colour, double width, double radius) {
  if (!rect.empty()) shapes_.emplace_back(StrokeShape{rect, colour, width, radius});
}

void Canvas::line(Point from, Point to, Colour colour, double width, Dash dash) {
  shapes_.emplace_back(LineShape{from, to, colour, width, dash});
}

void Canvas::polyline(std::vector<Point> points, Colour colour, double width) {
  if (points.size() >= 2) shapes_.emplace_back(PolylineShape{std::move(points), colour, width});
}

void Canvas::text(Point base_line, std::string text, TextStyle style, Colour colour) {
  if (!text.empty()) shapes_.emplace_back(TextShape{base_line, std::move(text), style, colour});
}

void Canvas::hatch(const Rect& rect, Colour colour, Hatch pattern) {
  if (!rect.empty()) shapes_.emplace_back(HatchShape{rect, colour, pattern});
}

void Canvas::push_clip(const Rect& rect) {
  clips_.push_back(clips_.empty() ? rect : intersection(clips_.back(), rect));
  shapes_.emplace_back(PushClip{clips_.back()});
}

void Canvas::pop_clip() {
  clips_.pop_back();
  shapes_.emplace_back(std::in_place_type<PopClip>);
}

}  // namespace planscope::viz
