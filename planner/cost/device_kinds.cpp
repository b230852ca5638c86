#include "planner/cost/device_kinds.h"

#include <set>

namespace planscope {
namespace {

std::vector<int> kinds_among(const Cluster& cluster, const std::vector<int>& devices) {
  std::set<int> out;
  for (const int device : devices) {
    const std::vector<int> kind = cluster.kinds_in(device, device + 1);
    out.insert(kind.begin(), kind.end());
  }
  return {out.begin(), out.end()};
}

}  // namespace

std::vector<int> kinds_at(const Cluster& cluster, const Program& program, PlaceId place) {
  if (cluster.kinds.size() == 1) return {0};
  return kinds_among(cluster, devices(program, program.places[static_cast<std::size_t>(place)]));
}

std::vector<int> kinds_of(const Cluster& cluster, const Program& program, const DeviceClass& c) {
  if (cluster.kinds.size() == 1) return {0};
  return kinds_among(cluster, devices(program, c));
}

}  // namespace planscope
