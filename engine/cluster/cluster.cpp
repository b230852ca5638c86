#include "engine/cluster/cluster.h"

#include <algorithm>
#include <limits>

#include "engine/base/text.h"

namespace planscope {

double DeviceType::rate(std::string_view dtype) const {
  double fallback = 0;
  for (const auto& [listed, rate] : flops) {
    if (listed == dtype) return rate;
    if (listed == "float32") fallback = rate;
  }
  return fallback;
}

std::int64_t Cluster::device_count() const { return devices_per_unit(static_cast<int>(levels.size()) - 1); }

std::int64_t Cluster::devices_per_unit(int level) const {
  std::int64_t count = 1;
  for (int i = 0; i <= level; ++i) count *= levels[static_cast<std::size_t>(i)].arity;
  return count;
}

const DeviceType& Cluster::device(std::int64_t number) const {
  const auto after = std::upper_bound(kinds.begin(), kinds.end(), number,
                                      [](std::int64_t n, const DeviceKind& k) { return n < k.first; });
  return std::prev(after)->type;
}

std::vector<int> Cluster::kinds_in(std::int64_t first, std::int64_t end) const {
  if (kinds.size() == 1) return {0};
  std::vector<int> out;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const std::int64_t last = k + 1 < kinds.size() ? kinds[k + 1].first : std::numeric_limits<std::int64_t>::max();
    if (kinds[k].first >= end || last <= first) continue;
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const auto& o) { return o.type == kinds[k].type; });
    const int kind = static_cast<int>(same - kinds.begin());
    const auto place = std::lower_bound(out.begin(), out.end(), kind);
    if (place == out.end() || *place != kind) out.insert(place, kind);
  }
  return out;
}

Bytes Cluster::least_memory(const std::vector<int>& which) const {
  Bytes out{std::numeric_limits<std::int64_t>::max()};
  for (const int k : which) out = std::min(out, kinds[static_cast<std::size_t>(k)].type.memory);
  return out;
}

Cluster Cluster::of_kind(int kind) const {
  Cluster out = *this;
  out.kinds = {{kinds[static_cast<std::size_t>(kind)].type, 0}};
  return out;
}

std::uint64_t Cluster::digest() const {
  Cluster nameless = *this;
  nameless.name.clear();
  return planscope::digest(print_cluster(nameless));
}

}  // namespace planscope
