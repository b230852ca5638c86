#pragma once
// How long communication takes: alpha-beta, level by level, for a group that is described by strides.
//
// A group costs nothing per device: it is a first device and axes (size, stride) over the device numbering, as grid
// axes are. From them follows, for each level, how many members stand in one unit, and so how many parties k meet at a
// level.
//
// Model. Groups of one kind act at the same time on all devices (plans are regular), so a device has bandwidth /
// sharing of each link. A collective passes the levels one after the other, innermost first on the way in (hierarchical
// algorithm); m members in one unit each carry 1/m of the data to the next level. With S = bytes, k parties at a level,
// m = members in one unit below it, alpha = latency, B = bandwidth / sharing, each level with k > 1 adds
//   all_gather, reduce_scatter   steps(k) alpha + (k-1)/k S/(m B)       S: the gathered result, or the whole input
//   all_reduce                   twice that (reduce-scatter, then all-gather)
//   broadcast                    2 steps(k) alpha + S/(m B), and below the outermost level (k-1)/k instead of 1
//   all_to_all                   (k-1) alpha + (members outside the unit below)/n S/B       S: one device's buffer
//   send                         alpha + S/B at the outermost level spanned, nothing below
// where steps(k) = min(k-1, 2 ceil(log2 k)): a ring while it is short, else trees. Bandwidth terms: nccl-tests,
// doc/PERFORMANCE.md; latency terms: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations
// in MPICH", 2005. A group that does not fill its units evenly counts as its fullest unit. A group of one costs
// nothing. Not modelled: overlap with computing (the simulator's), congestion between different collectives, protocol
// switches.
//
//   // tensor=8 inside each node of a dgx-a100x2, then data=2 across the two nodes
//   collective_time(c, Collective::all_reduce, Bytes{1 << 20}, {.first = 0, .axes = {{8, 1}}});
//   collective_time(c, Collective::all_reduce, Bytes{1 << 20}, {.first = 0, .axes = {{2, 8}}});
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/cluster/cluster.h"

namespace planscope {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send };
std::string_view to_string(Collective);

struct GroupAxis {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  bool operator==(const GroupAxis&) const = default;
};

// The devices {first + sum of c_i * stride_i | 0 <= c_i < size_i}. Axes in any order; they must be nested as those of a
// grid are (each stride at least the extent of the axes below it). `listed` is for irregular groups: it replaces the
// axes, is in ascending order, and costs time per member.
struct DeviceGroup {
  std::int64_t first = 0;
  std::vector<GroupAxis> axes = {};
  std::vector<std::int64_t> listed = {};

  std::int64_t size() const;
  bool operator==(const DeviceGroup&) const = default;
};

// For each level: the members of the group in its fullest unit. Exact where strides and unit sizes divide one another,
// and for listed groups; else the fullest of the first two units and the last. The last entry may be less than size()
// only if the group does not fit in the cluster.
std::vector<std::int64_t> members_per_unit(const Cluster&, const DeviceGroup&);

Microseconds collective_time(const Cluster&, Collective, Bytes, const DeviceGroup&);

// What a device of the fullest units sends over the links of each level (index as in Cluster::levels), by the same model:
// S of the bandwidth terms above.
std::vector<double> bytes_by_level(const Cluster&, Collective, Bytes, const DeviceGroup&);

// What one device sends to another one.
struct PointToPoint {
  int from = 0, to = 0;
  Bytes bytes;
  bool operator==(const PointToPoint&) const = default;
};

// Messages that are under way together: those that one device sends, or receives, over one level share its link there and
// wait once, alpha + S/B; links of different levels, and the two directions, work side by side. The slowest link counts.
// A message of a device to itself costs nothing.
Microseconds exchange_time(const Cluster&, std::span<const PointToPoint>);

// The level at which two devices meet: index into levels; -1 for a device and itself.
int meeting_level(const Cluster&, std::int64_t a, std::int64_t b);
// The innermost one at which some device of one group meets one of another; -1: they share a device.
int nearest_level(const Cluster&, std::span<const int> a, std::span<const int> b);

}  // namespace planscope
