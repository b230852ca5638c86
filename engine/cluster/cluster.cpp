#include "engine/cluster/cluster.h"

#include <algorithm>
#include <limits>
#include <set>

#include "engine/base/text.h"

namespace planscope {
namespace {

std::size_t run_of(const std::vector<DeviceKind>& kinds, std::int64_t device) {
  const auto after = std::upper_bound(kinds.begin(), kinds.end(), device,
                                      [](std::int64_t n, const DeviceKind& k) { return n < k.first; });
  return static_cast<std::size_t>(after - kinds.begin()) - 1;
}

std::vector<int> kinds_of_runs(const std::vector<DeviceKind>& kinds, const std::vector<char>& chosen) {
  std::set<int> out;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    if (!chosen[k]) continue;
    const auto same = [&](const DeviceKind& o) { return o.type == kinds[k].type; };
    out.insert(static_cast<int>(std::find_if(kinds.begin(), kinds.end(), same) - kinds.begin()));
  }
  return {out.begin(), out.end()};
}

}  // namespace

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

const DeviceType& Cluster::device(std::int64_t number) const { return kinds[run_of(kinds, number)].type; }

std::vector<int> Cluster::kinds_in(std::int64_t first, std::int64_t end) const {
  if (kinds.size() == 1) return {0};
  std::vector<char> chosen(kinds.size(), 0);
  for (std::size_t k = run_of(kinds, first); k < kinds.size() && kinds[k].first < end; ++k) chosen[k] = 1;
  return kinds_of_runs(kinds, chosen);
}

std::vector<int> Cluster::kinds_of(const std::vector<int>& devices) const {
  if (kinds.size() == 1) return {0};
  std::vector<char> chosen(kinds.size(), 0);
  for (const int device : devices) chosen[run_of(kinds, device)] = 1;
  return kinds_of_runs(kinds, chosen);
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
