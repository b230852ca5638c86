#pragma once
// The kinds of devices that run the same code (Cluster::kinds). Devices of one place, and of one device class, wait for each
// other: what they run takes as long as on the slowest of them, and they have the memory of the smallest.
//
//   const std::vector<int> kinds = kinds_at(cluster, program, segment.place);
//   Figure f = slowest(cluster, kinds, [&](const DeviceType& d) { return memory_time(bytes, d, model); });
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/program/program.h"
#include "planner/cost/operator_cost.h"

namespace planscope {

std::vector<int> kinds_at(const Cluster&, const Program&, PlaceId);
std::vector<int> kinds_of(const Cluster&, const Program&, const DeviceClass&);

// `time`: a Figure for a DeviceType.
template <typename Time>
Figure slowest(const Cluster& cluster, const std::vector<int>& kinds, const Time& time) {
  Figure out;
  for (const int k : kinds) {
    const Figure figure = time(cluster.kinds[static_cast<std::size_t>(k)].type);
    if (k == kinds.front() || figure.time > out.time) out = figure;
  }
  return out;
}

}  // namespace planscope
