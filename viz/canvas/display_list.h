#pragma once
// What a view draws: a list of shapes, recorded by a Canvas, painted by a back end (ImGui draw list, SVG, PNG). A list
// is a value: it can be compared, counted and searched in tests. Coordinates are pixels of the picture; all shapes are
// limited to the clip rectangle that was in force when they were recorded. No images, no transformations, no layers.
//
//   Canvas canvas;
//   canvas.push_clip({0, 0, 100, 40});
//   canvas.fill({4, 4, 60, 20}, rgb(0x4c8fd6), 2);
//   canvas.text({8, 18}, "f0", TextStyle::strong, rgb(0x10141a));
//   canvas.pop_clip();
//   std::string svg = to_svg(canvas.list(), Size{100, 40}, {});
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "viz/canvas/colour.h"
#include "viz/canvas/geometry.h"
#include "viz/canvas/text.h"

namespace planscope::viz {

struct Size {
  double width = 0, height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

enum class Dash { solid, dashed };

struct FillShape {
  Rect rect;
  Colour colour;
  double radius = 0;
  friend bool operator==(const FillShape&, const FillShape&) = default;
};

struct StrokeShape {  // the line lies inside the rectangle
  Rect rect;
  Colour colour;
  double width = 1, radius = 0;
  friend bool operator==(const StrokeShape&, const StrokeShape&) = default;
};

struct LineShape {
  Point from, to;
  Colour colour;
  double width = 1;
  Dash dash = Dash::solid;
  friend bool operator==(const LineShape&, const LineShape&) = default;
};

struct PolylineShape {
  std::vector<Point> points;
  Colour colour;
  double width = 1;
  friend bool operator==(const PolylineShape&, const PolylineShape&) = default;
};

struct TextShape {
  Point at;  // left end of the base line
  std::string text;
  TextStyle style = TextStyle::normal;
  Colour colour;
  friend bool operator==(const TextShape&, const TextShape&) = default;
};

// Patterns of lines that can be told from each other without colours.
enum class Hatch : std::uint8_t { rising, falling, vertical, crossed, horizontal, grid, dense, wide };
constexpr int hatch_count = 8;

struct HatchLines {  // of a pattern: x + y, x - y, x, y = n * spacing
  bool rising = false, falling = false, vertical = false, horizontal = false;
  double spacing = 6;
};
HatchLines lines_of(Hatch);

struct HatchShape {  // in phase over the whole picture
  Rect rect;
  Colour colour;
  Hatch pattern = Hatch::rising;
  friend bool operator==(const HatchShape&, const HatchShape&) = default;
};

struct PushClip {  // already intersected with the one before
  Rect rect;
  friend bool operator==(const PushClip&, const PushClip&) = default;
};

struct PopClip {
  friend bool operator==(const PopClip&, const PopClip&) = default;
};

using Shape = std::variant<FillShape, StrokeShape, LineShape, PolylineShape, TextShape, HatchShape, PushClip, PopClip>;
using DisplayList = std::vector<Shape>;

inline constexpr double hatch_thickness = 1;  // of a line
inline constexpr double dash_length = 3;      // and as much between two dashes

class Canvas {
 public:
  void fill(const Rect& rect, Colour colour, double radius = 0);
  void stroke(const Rect& rect, Colour colour, double width = 1, double radius = 0);
  void line(Point from, Point to, Colour colour, double width = 1, Dash dash = Dash::solid);
  void polyline(std::vector<Point> points, Colour colour, double width = 1);
  void text(Point base_line, std::string text, TextStyle style, Colour colour);
  void hatch(const Rect& rect, Colour colour, Hatch pattern = Hatch::rising);
  void push_clip(const Rect& rect);
  void pop_clip();

  void clear() { shapes_.clear(), clips_.clear(); }  // of a frame: the next one is recorded into the same memory

  const DisplayList& list() const { return shapes_; }

 private:
  DisplayList shapes_;
  std::vector<Rect> clips_;
};

}  // namespace planscope::viz
