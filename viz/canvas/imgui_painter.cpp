#include "viz/canvas/imgui_painter.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace planscope::viz {
namespace {

ImU32 packed(Colour c) { return IM_COL32(c.r, c.g, c.b, c.a); }

class Painter {
 public:
  Painter(ImDrawList& target, const FontSet& fonts, Point origin) : target_(target), fonts_(fonts), origin_(origin) {}

  void operator()(const FillShape& s) {
    target_.AddRectFilled(at(s.rect.x, s.rect.y), at(s.rect.right(), s.rect.bottom()), packed(s.colour), f(s.radius));
  }
  void operator()(const StrokeShape& s) {
    const Rect r = inset(s.rect, (s.width - 1) / 2);
    target_.AddRect(at(r.x, r.y), at(r.right(), r.bottom()), packed(s.colour), f(s.radius), 0, f(s.width));
  }
  void operator()(const LineShape& s) {
    if (s.dash == Dash::solid)
      return target_.AddLine(at(s.from.x, s.from.y), at(s.to.x, s.to.y), packed(s.colour), f(s.width));
    const double length = std::hypot(s.to.x - s.from.x, s.to.y - s.from.y);
    for (double d = 0; d < length; d += 2 * dash_length) {
      const auto on_line = [&](double t) {
        return at(s.from.x + (s.to.x - s.from.x) * t, s.from.y + (s.to.y - s.from.y) * t);
      };
      target_.AddLine(on_line(d / length), on_line(std::min(1.0, (d + dash_length) / length)), packed(s.colour),
                      f(s.width));
    }
  }
  void operator()(const PolylineShape& s) {
    points_.clear();
    for (const Point& p : s.points) points_.push_back(at(p.x + 0.5, p.y + 0.5));
    target_.AddPolyline(points_.data(), static_cast<int>(points_.size()), packed(s.colour), 0, f(s.width));
  }
  void operator()(const TextShape& s) {
    ImFont* font = s.style == TextStyle::small    ? fonts_.small
                   : s.style == TextStyle::strong ? fonts_.strong
                                                  : fonts_.normal;
    const float scale = ImGui::GetIO().FontGlobalScale;
    const ImVec2 base = at(s.at.x, s.at.y);
    const ImVec2 top{std::round(base.x), std::round(base.y) - std::round(font->Ascent * scale)};
    target_.AddText(font, font->FontSize * scale, top, packed(s.colour), s.text.data(), s.text.data() + s.text.size());
  }
  void operator()(const HatchShape& s) {
    const ImVec2 low = target_.GetClipRectMin(), high = target_.GetClipRectMax();
    const Rect visible{low.x - origin_.x, low.y - origin_.y, high.x - low.x, high.y - low.y};
    const Rect r = intersection(s.rect, visible);
    if (r.empty()) return;
    const HatchLines lines = lines_of(s.pattern);
    const auto each = [&](double from, double to, const auto& draw) {
      for (double c = std::ceil(from / lines.spacing) * lines.spacing; c < to; c += lines.spacing) draw(c);
    };
    const auto line = [&](double x0, double y0, double x1, double y1) {
      target_.AddLine(at(x0, y0), at(x1, y1), packed(s.colour), f(hatch_thickness));
    };
    if (lines.rising)
      each(r.x + r.y, r.right() + r.bottom(), [&](double c) {
        const double x0 = std::max(r.x, c - r.bottom()), x1 = std::min(r.right(), c - r.y);
        line(x0, c - x0, x1, c - x1);
      });
    if (lines.falling)
      each(r.x - r.bottom(), r.right() - r.y, [&](double c) {
        const double x0 = std::max(r.x, c + r.y), x1 = std::min(r.right(), c + r.bottom());
        line(x0, x0 - c, x1, x1 - c);
      });
    // Straight ones are rectangles, which are filled faster; of whole pixels, so that all are equally wide on every screen.
    const double ratio = std::max(1e-3, static_cast<double>(ImGui::GetIO().DisplayFramebufferScale.x));
    const double thickness = std::max(1.0, std::round(hatch_thickness * ratio)) / ratio;
    const auto pixel = [&](double v, double origin) { return std::round((v + origin) * ratio) / ratio - origin; };
    const auto bar = [&](double x0, double y0, double x1, double y1) {
      target_.AddRectFilled(at(x0, y0), at(x1, y1), packed(s.colour));
    };
    if (lines.vertical)
      each(r.x, r.right(), [&](double c) {
        const double x = pixel(c, origin_.x);
        bar(x, r.y, std::min(x + thickness, r.right()), r.bottom());
      });
    if (lines.horizontal)
      each(r.y, r.bottom(), [&](double c) {
        const double y = pixel(c, origin_.y);
        bar(r.x, y, r.right(), std::min(y + thickness, r.bottom()));
      });
  }
  void operator()(const PushClip& s) {
    target_.PushClipRect(at(s.rect.x, s.rect.y), at(s.rect.right(), s.rect.bottom()), true);
  }
  void operator()(const PopClip&) { target_.PopClipRect(); }

 private:
  static float f(double v) { return static_cast<float>(v); }
  ImVec2 at(double x, double y) const { return {f(x + origin_.x), f(y + origin_.y)}; }

  ImDrawList& target_;
  const FontSet& fonts_;
  Point origin_;
  std::vector<ImVec2> points_;
};

}  // namespace

void paint(const DisplayList& list, ImDrawList& target, const FontSet& fonts, Point origin) {
  Painter painter(target, fonts, origin);
  for (const Shape& shape : list) std::visit(painter, shape);
}

}  // namespace planscope::viz
