#include "planner/verify/indices.h"

#include <algorithm>

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

bool contains(const std::vector<AxisId>& axes, AxisId a) {
  return std::find(axes.begin(), axes.end(), a) != axes.end();
}

}  // namespace

bool subset(const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
  return std::all_of(a.begin(), a.end(), [&](AxisId x) { return contains(b, x); });
}

std::vector<AxisId> without(const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
  std::vector<AxisId> out;
  for (const AxisId x : a)
    if (!contains(b, x)) out.push_back(x);
  std::sort(out.begin(), out.end());
  return out;
}

bool has_coordinate(const Program& p, const Digit& d, const Place& place, const std::vector<AxisId>& indexed) {
  const Axis& axis = at(p.axes, d.axis);
  if (d.by >= 0 && !has_coordinate(p, {d.by}, place, indexed)) return false;
  if (axis.grid < 0) return contains(indexed, d.axis);
  if (axis.grid != place.grid) return false;
  return std::none_of(place.fixed.begin(), place.fixed.end(), [&](const auto& f) { return f.first == d.axis; });
}

bool same_place(const Program& p, PlaceId a, PlaceId b) { return a == b || at(p.places, a) == at(p.places, b); }

}  // namespace planscope::verification
