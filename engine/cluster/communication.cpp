#include "engine/cluster/communication.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <map>
#include <limits>

namespace planscope {
namespace {

// Axes with the largest stride first.
std::vector<GroupAxis> outermost_first(std::vector<GroupAxis> axes) {
  std::erase_if(axes, [](const GroupAxis& a) { return a.size == 1; });
  std::sort(axes.begin(), axes.end(), [](const GroupAxis& a, const GroupAxis& b) { return a.stride > b.stride; });
  return axes;
}

// Members whose distance from the first is below `limit`. Mixed radix: whole blocks of the outer axis, then the rest.
std::int64_t count_below(const std::vector<GroupAxis>& axes, std::int64_t limit) {
  if (limit <= 0) return 0;
  std::int64_t inner = 1;
  std::int64_t extent = 0;  // largest distance within the axes that are still to come
  for (const GroupAxis& a : axes) {
    inner *= a.size;
    extent += (a.size - 1) * a.stride;
  }
  std::int64_t count = 0;
  for (const GroupAxis& a : axes) {
    inner /= a.size;
    extent -= (a.size - 1) * a.stride;
    assert(extent < a.stride && "axes of a group must be nested");
    const std::int64_t whole = limit > extent ? std::min(a.size, (limit - extent - 1) / a.stride + 1) : 0;
    count += whole * inner;
    if (whole == a.size || whole * a.stride >= limit) return count;
    limit -= whole * a.stride;
  }
  return count + 1;
}

std::int64_t members_in_fullest_unit(const DeviceGroup& group, const std::vector<GroupAxis>& axes, std::int64_t unit) {
  std::int64_t best = 0;
  if (!group.listed.empty()) {
    for (std::size_t begin = 0, end = 0; begin < group.listed.size(); begin = end) {
      while (end < group.listed.size() && group.listed[end] / unit == group.listed[begin] / unit) ++end;
      best = std::max(best, static_cast<std::int64_t>(end - begin));
    }
    return best;
  }
  std::int64_t extent = 0;
  for (const GroupAxis& a : axes) extent += (a.size - 1) * a.stride;
  const std::int64_t first_unit = group.first / unit;
  const std::int64_t last_unit = (group.first + extent) / unit;
  for (const std::int64_t u : {first_unit, std::min(first_unit + 1, last_unit), last_unit}) {
    const std::int64_t begin = u * unit - group.first;
    best = std::max(best, count_below(axes, begin + unit) - count_below(axes, begin));
  }
  return best;
}

double steps(std::int64_t parties) {
  const int log2_up = std::bit_width(static_cast<std::uint64_t>(parties - 1));
  return static_cast<double>(std::min<std::int64_t>(parties - 1, 2 * log2_up));
}

constexpr double microseconds_per_second = 1e6;

double transfer_us(double bytes, const Level& level) {
  return bytes * level.sharing / level.bandwidth * microseconds_per_second;
}

}  // namespace

std::string_view to_string(Collective kind) {
  switch (kind) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::broadcast:
      return "broadcast";
    case Collective::send:
      return "send";
  }
  return "";
}

std::int64_t DeviceGroup::size() const {
  if (!listed.empty()) return static_cast<std::int64_t>(listed.size());
  std::int64_t n = 1;
  for (const GroupAxis& a : axes) n *= a.size;
  return n;
}

std::vector<std::int64_t> members_per_unit(const Cluster& cluster, const DeviceGroup& group) {
  const std::vector<GroupAxis> axes = outermost_first(group.axes);
  std::vector<std::int64_t> members;
  std::int64_t unit = 1;
  for (const Level& level : cluster.levels) {
    unit *= level.arity;
    members.push_back(members_in_fullest_unit(group, axes, unit));
  }
  return members;
}

namespace {

// What a collective does at one level: how often it waits for the latency, and what a device sends.
struct Passage {
  int level = 0;
  double steps = 0, bytes = 0;
};

Passage passage(Collective kind, int level, bool outermost, double size, std::int64_t below, std::int64_t within,
                std::int64_t all) {
  const std::int64_t parties = (within + below - 1) / below;
  if (parties <= 1) return {};
  const auto k = static_cast<double>(parties);
  const double share = size / static_cast<double>(below);  // what one member carries at this level
  const double once = (k - 1) / k * share;
  switch (kind) {
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return {level, steps(parties), once};
    case Collective::all_reduce:
      return {level, 2 * steps(parties), 2 * once};
    case Collective::broadcast:
      return {level, 2 * steps(parties), outermost ? share : once};
    case Collective::all_to_all:
      return {level, k - 1, size * static_cast<double>(within - below) / static_cast<double>(all)};
    case Collective::send:
      return outermost ? Passage{level, 1, size} : Passage{};
  }
  return {};
}

// Innermost first.
std::vector<Passage> passages(const Cluster& cluster, Collective kind, Bytes bytes, const DeviceGroup& group) {
  std::vector<Passage> out;
  const std::int64_t n = group.size();
  if (n <= 1) return out;
  std::vector<std::int64_t> members = members_per_unit(cluster, group);
  members.back() = n;  // a group larger than the cluster meets at its outermost level
  const int outermost = static_cast<int>(std::find(members.begin(), members.end(), n) - members.begin());
  for (int i = 0; i <= outermost; ++i)
    out.push_back(passage(kind, i, i == outermost, static_cast<double>(bytes.count),
                          i == 0 ? 1 : members[static_cast<std::size_t>(i - 1)], members[static_cast<std::size_t>(i)], n));
  return out;
}

}  // namespace

Microseconds collective_time(const Cluster& cluster, Collective kind, Bytes bytes, const DeviceGroup& group) {
  double total = 0;
  for (const Passage& p : passages(cluster, kind, bytes, group)) {
    const Level& level = cluster.levels[static_cast<std::size_t>(p.level)];
    if (p.steps > 0) total += p.steps * level.latency.count + transfer_us(p.bytes, level);
  }
  return {total};
}

std::vector<double> bytes_by_level(const Cluster& cluster, Collective kind, Bytes bytes, const DeviceGroup& group) {
  std::vector<double> out(cluster.levels.size(), 0);
  for (const Passage& p : passages(cluster, kind, bytes, group)) out[static_cast<std::size_t>(p.level)] += p.bytes;
  return out;
}

Microseconds exchange_time(const Cluster& cluster, std::span<const PointToPoint> messages) {
  const auto levels = cluster.levels.size();
  int first = std::numeric_limits<int>::max(), last = -1;
  for (const PointToPoint& m : messages) first = std::min({first, m.from, m.to}), last = std::max({last, m.from, m.to});
  if (last < 0) return {};
  const auto links = [&](int device, bool receives) {  // of the innermost level
    return (static_cast<std::size_t>(device - first) * 2 + (receives ? 1 : 0)) * levels;
  };
  std::vector<std::int64_t> bytes(links(last + 1, false), 0);
  for (const PointToPoint& m : messages) {
    const int level = meeting_level(cluster, m.from, m.to);
    if (level < 0 || m.bytes.count == 0) continue;
    bytes[links(m.from, false) + static_cast<std::size_t>(level)] += m.bytes.count;
    bytes[links(m.to, true) + static_cast<std::size_t>(level)] += m.bytes.count;
  }
  Microseconds longest;
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    if (bytes[link] == 0) continue;
    const Level& level = cluster.levels[link % levels];
    longest = std::max(longest, level.latency + Microseconds{transfer_us(static_cast<double>(bytes[link]), level)});
  }
  return longest;
}

int meeting_level(const Cluster& cluster, std::int64_t a, std::int64_t b) {
  if (a == b) return -1;
  const int last = static_cast<int>(cluster.levels.size()) - 1;
  std::int64_t unit = 1;
  for (int i = 0; i < last; ++i) {
    unit *= cluster.levels[static_cast<std::size_t>(i)].arity;
    if (a / unit == b / unit) return i;
  }
  return last;
}

int nearest_level(const Cluster& cluster, std::span<const int> a, std::span<const int> b) {
  std::vector<std::int64_t> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  const auto share_units = [&](std::int64_t unit) {
    for (std::size_t i = 0, k = 0; i < x.size() && k < y.size();) {
      if (x[i] / unit == y[k] / unit) return true;
      x[i] / unit < y[k] / unit ? ++i : ++k;
    }
    return false;
  };
  const int last = static_cast<int>(cluster.levels.size()) - 1;
  std::int64_t unit = 1;
  for (int level = -1; level < last; ++level) {
    if (share_units(unit)) return level;
    unit *= cluster.levels[static_cast<std::size_t>(level) + 1].arity;
  }
  return last;
}

}  // namespace planscope
