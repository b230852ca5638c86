#include "viz/traffic/model.h"

#include <algorithm>
#include <cmath>

namespace planscope::viz {

std::string first_problem(const TrafficModel& m) {
  const std::size_t cells = m.from.size();
  if (m.to.size() != cells || m.communicator.size() != cells || m.bytes.size() != cells || m.messages.size() != cells ||
      m.time.size() != cells)
    return "the tables of the cells have different lengths";
  const auto outside = [](std::int32_t k, std::size_t size) { return k < 0 || static_cast<std::size_t>(k) >= size; };
  for (std::size_t k = 0; k < cells; ++k) {
    if (outside(m.from[k], m.rows.size()) || outside(m.to[k], m.rows.size())) return "a cell lies outside the matrix";
    if (outside(m.communicator[k], m.communicators.size())) return "a cell is of no communicator";
    if (!(m.bytes[k] >= 0) || !std::isfinite(m.bytes[k])) return "a cell has fewer than no bytes";
    if (!(m.time[k] >= 0) || !std::isfinite(m.time[k])) return "a cell takes less than no time";
  }
  if (m.devices < 1 || m.devices_per_row < 1) return "there are no devices";
  if (m.row_devices.size() != m.rows.size() || m.places.size() != m.rows.size()) return "rows have no devices";
  for (const TrafficLink& l : m.links)
    if (std::any_of(l.bytes.begin(), l.bytes.end(), [](double b) { return !(b >= 0) || !std::isfinite(b); }))
      return "a link has fewer than no bytes";
  return {};
}

}  // namespace planscope::viz
