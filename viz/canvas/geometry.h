#pragma once
// Plane geometry of a picture (pixels, y downwards) and the map between time and the horizontal axis. Pure functions.
//
//   TimeScale scale{{Microseconds{0}, Microseconds{100}}, Pixels{96}, Pixels{900}};
//   Pixels x = scale.to_x(Microseconds{50});                 // 96 + 450
//   Microseconds t = scale.to_time(x);                       // 50 again
//   TimeRange closer = zoom(scale.range, t, 0.8);            // t stays where it is on the screen
#include "viz/canvas/units.h"

namespace planscope::viz {

struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  bool empty() const { return width <= 0 || height <= 0; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

Rect intersection(const Rect& a, const Rect& b);  // empty: width and height 0
Rect inset(const Rect& r, double by);

struct TimeRange {
  Microseconds begin, end;  // begin < end
  Microseconds length() const { return end - begin; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// The visible range laid over [left, left + width).
struct TimeScale {
  TimeRange range;
  Pixels left, width;

  double pixels_per_microsecond() const { return width.value / range.length().value; }
  Pixels to_x(Microseconds t) const;
  Microseconds to_time(Pixels x) const;
  Pixels to_width(Microseconds duration) const;
  Microseconds to_duration(Pixels w) const;
};

// Scales the range by `factor` (below 1: closer) so that `about` keeps its place on the screen.
TimeRange zoom(const TimeRange& range, Microseconds about, double factor);
TimeRange pan(const TimeRange& range, Microseconds by);

// Keeps a visible range sensible: no shorter than `shortest`, no longer than `whole` with a margin of 5 % on both
// sides, and moved so that it lies within that.
TimeRange clamp_to(const TimeRange& range, const TimeRange& whole, Microseconds shortest);

}  // namespace planscope::viz
