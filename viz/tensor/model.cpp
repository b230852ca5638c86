#include "viz/tensor/model.h"

#include <algorithm>

namespace planscope::viz {

bool TileDevices::contains(std::int64_t device) const {
  if (!listed.empty()) return std::binary_search(listed.begin(), listed.end(), device);
  auto sorted = axes;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::int64_t rest = device - first;
  if (rest < 0) return false;
  for (const auto& [size, stride] : sorted)
    if (stride > 0) rest -= std::min(size - 1, rest / stride) * stride;
  return rest == 0;
}

std::string first_problem(const TensorModel& m) {
  if (m.devices < 1) return "there are no devices";
  for (const TensorDimension& d : m.dimensions)
    if (d.size < 0) return "dimension " + d.name + " has a size below zero";
  for (const TensorAxis& a : m.axes)
    if (a.size < 1 || a.index < 0 || a.index >= a.size) return "axis " + a.name + " has no such index";
  bool readers = false;
  for (const TensorSide& s : m.sides) {
    if (s.first < 0 || s.tiles < 0 || static_cast<std::int64_t>(s.first) + s.tiles > std::ssize(m.tiles))
      return s.title + " has tiles that do not exist";
    const bool writes = s.writer < 0;
    if (writes && readers) return "a writer stands behind a reader";
    readers |= !writes;
    if (!writes && (static_cast<std::size_t>(s.writer) >= m.sides.size() ||
        m.sides[static_cast<std::size_t>(s.writer)].writer >= 0))
      return s.title + " reads from no writer";
  }
  for (const Tile& t : m.tiles) {
    if (t.runs.size() != m.dimensions.size()) return "a tile has other dimensions than the tensor";
    for (std::size_t d = 0; d < t.runs.size(); ++d)
      for (const TileRun& r : t.runs[d])
        if (r.begin < 0 || r.end < r.begin || r.end > m.dimensions[d].size) return "a tile lies outside the tensor";
    if (t.part >= 0 && (t.part_last < t.part || t.part_of <= t.part_last)) return "a part of a value does not exist";
  }
  return {};
}

}  // namespace planscope::viz
