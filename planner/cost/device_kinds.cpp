#include "planner/cost/device_kinds.h"

namespace planscope {

std::vector<int> kinds_at(const Cluster& cluster, const Program& program, PlaceId place) {
  if (cluster.kinds.size() == 1) return {0};
  return cluster.kinds_of(devices(program, program.places[static_cast<std::size_t>(place)]));
}

std::vector<int> kinds_of(const Cluster& cluster, const Program& program, const DeviceClass& c) {
  if (cluster.kinds.size() == 1) return {0};
  return cluster.kinds_of(devices(program, c));
}

}  // namespace planscope
