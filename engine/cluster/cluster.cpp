#include "engine/cluster/cluster.h"

#include "engine/base/text.h"

namespace planscope {

std::int64_t Cluster::device_count() const { return devices_per_unit(static_cast<int>(levels.size()) - 1); }

std::int64_t Cluster::devices_per_unit(int level) const {
  std::int64_t count = 1;
  for (int i = 0; i <= level; ++i) count *= levels[static_cast<std::size_t>(i)].arity;
  return count;
}

double Cluster::flops(std::string_view dtype) const {
  double fallback = 0;
  for (const auto& [name, rate] : device.flops) {
    if (name == dtype) return rate;
    if (name == "float32") fallback = rate;
  }
  return fallback;
}

std::uint64_t Cluster::digest() const {
  Cluster nameless = *this;
  nameless.name.clear();
  return planscope::digest(print_cluster(nameless));
}

}  // namespace planscope
