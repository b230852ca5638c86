#include "viz/canvas/geometry.h"

#include <algorithm>

namespace planscope::viz {

Rect intersection(const Rect& a, const Rect& b) {
  Rect r{std::max(a.x, b.x), std::max(a.y, b.y), 0, 0};
  r.width = std::max(0.0, std::min(a.right(), b.right()) - r.x);
  r.height = std::max(0.0, std::min(a.bottom(), b.bottom()) - r.y);
  return r;
}

Rect inset(const Rect& r, double by) { return {r.x + by, r.y + by, r.width - 2 * by, r.height - 2 * by}; }

Pixels TimeScale::to_x(Microseconds t) const { return left + to_width(t - range.begin); }

Microseconds TimeScale::to_time(Pixels x) const { return range.begin + to_duration(x - left); }

Pixels TimeScale::to_width(Microseconds duration) const { return width * (duration / range.length()); }

Microseconds TimeScale::to_duration(Pixels w) const { return range.length() * (w / width); }

TimeRange zoom(const TimeRange& range, Microseconds about, double factor) {
  return {about - (about - range.begin) * factor, about + (range.end - about) * factor};
}

TimeRange pan(const TimeRange& range, Microseconds by) { return {range.begin + by, range.end + by}; }

TimeRange clamp_to(const TimeRange& range, const TimeRange& whole, Microseconds shortest) {
  const Microseconds margin = whole.length() * 0.05;
  const TimeRange limits{whole.begin - margin, whole.end + margin};
  TimeRange r = range;
  if (r.length() < shortest) {
    const Microseconds middle = (r.begin + r.end) * 0.5;
    r = {middle - shortest * 0.5, middle + shortest * 0.5};
  }
  if (r.length() >= limits.length()) return limits;
  if (r.begin < limits.begin) return pan(r, limits.begin - r.begin);
  if (r.end > limits.end) return pan(r, limits.end - r.end);
  return r;
}

}  // namespace planscope::viz
