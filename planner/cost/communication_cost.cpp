#include "planner/cost/communication_cost.h"

#include <algorithm>
#include <numeric>

#include "engine/program/transfer.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::int64_t stride_of(const Grid& grid, AxisId axis) {
  for (std::size_t i = 0; i < grid.axes.size(); ++i)
    if (grid.axes[i] == axis) return grid.strides[i];
  return 0;
}

std::vector<DeviceGroup> listed_groups(const Program& program, const Place& place, const std::vector<Digit>& digits) {
  std::map<Point, DeviceGroup> groups;  // by the point without the digits
  for (int device : devices(program, place)) {
    Point rest = point_of(program, place, device);
    for (const Digit& d : digits) rest[at(d.axis)] -= digit_value(d, rest) * d.stride;
    groups[rest].listed.push_back(device);
  }
  std::vector<DeviceGroup> out;
  for (auto& [point, group] : groups) {
    std::sort(group.listed.begin(), group.listed.end());
    out.push_back(std::move(group));
  }
  return out;
}

Collective collective_of(MoveKind kind) {
  switch (kind) {
    case MoveKind::all_gather:
      return Collective::all_gather;
    case MoveKind::reduce_scatter:
      return Collective::reduce_scatter;
    case MoveKind::all_to_all:
      return Collective::all_to_all;
    case MoveKind::rotate:
    case MoveKind::rotate_back:
      return Collective::send;
    default:
      return Collective::all_reduce;
  }
}

}  // namespace

std::vector<DeviceGroup> groups_of(const Program& program, const Place& place, const std::vector<Digit>& digits) {
  const Grid& grid = program.grids[at(place.grid)];
  if (!grid.devices.empty()) return listed_groups(program, place, digits);
  DeviceGroup group;
  group.first = grid.first;
  for (const auto& [axis, value] : place.fixed) group.first += value * stride_of(grid, axis);
  for (const Digit& d : digits) group.axes.push_back({d.size, d.stride * stride_of(grid, d.axis)});
  return {group};
}

MoveCost move_cost(const Graph& graph, const Program& program, const Cluster& cluster, PlaceId place,
                   const Instruction& instruction, const Profile& profile) {
  const Move& move = instruction.move;
  MoveCost cost;
  if (is_local(move.kind)) return cost;
  const bool as_made = move.kind == MoveKind::all_gather || move.kind == MoveKind::rotate;
  for (std::size_t k = 0; k < instruction.out.size(); ++k)
    cost.payload.count += value_bytes(graph, program, as_made ? instruction.out[k] : instruction.in.at(k)).count;
  const std::vector<Digit> digits = communicator(move);
  for (const Digit& d : digits) cost.group *= d.size;
  const auto payload = static_cast<double>(cost.payload.count), n = static_cast<double>(std::max<std::int64_t>(1, cost.group));
  const double once = payload * (n - 1) / n;
  const bool rotates = move.kind == MoveKind::rotate || move.kind == MoveKind::rotate_back;
  cost.sent = move.kind == MoveKind::all_reduce ? 2 * once : rotates ? payload : once;
  cost.by_level.assign(cluster.levels.size(), 0);
  for (const DeviceGroup& g : groups_of(program, program.places[at(place)], digits)) {
    const std::vector<double> levels = bytes_by_level(cluster, collective_of(move.kind), cost.payload, g);
    for (std::size_t l = 0; l < levels.size(); ++l) cost.by_level[l] += levels[l];
    cost.figure.time = std::max(cost.figure.time, collective_time(cluster, collective_of(move.kind), cost.payload, g));
    const std::vector<std::int64_t> members = members_per_unit(cluster, g);
    const auto all = std::find(members.begin(), members.end(), g.size());
    const int outermost = std::min<int>(static_cast<int>(all - members.begin()), static_cast<int>(members.size()) - 1);
    cost.level = std::max(cost.level, outermost);
    cost.network = cost.network || members[0] < g.size();
  }
  // The mean of all groups; where units are filled unevenly, what the model sends is more than what must be sent.
  const double modelled = std::accumulate(cost.by_level.begin(), cost.by_level.end(), 0.0);
  for (double& bytes : cost.by_level) bytes *= modelled > 0 ? cost.sent / modelled : 0;
  cost.figure = look_up(profile, link_key(collective_of(move.kind)), "", cost.figure.time);
  return cost;
}

MoveCost transfer_cost(const Graph& graph, const Program& program, const Cluster& cluster, const Transfer& transfer,
                       const Profile& profile) {
  MoveCost cost;
  cost.group = 2;
  for (const ProgramValueId v : transfer.to) cost.payload.count += value_bytes(graph, program, v).count;
  TransferLoad load = transfer_load(graph, program, cluster, sendings(program, transfer));
  cost.by_level = std::move(load.sent_by_level);
  cost.sent = std::accumulate(cost.by_level.begin(), cost.by_level.end(), 0.0);
  for (std::size_t l = 0; l < cost.by_level.size(); ++l)
    if (cost.by_level[l] > 0) cost.level = static_cast<int>(l);
  cost.figure = look_up(profile, link_key(Collective::send), "", load.time);
  return cost;
}

std::string link_key(Collective kind) { return "link " + std::string(to_string(kind)); }

MessageCopies message_copies(const Instruction& issue, Bytes payload, bool in_place, bool even) {
  const double once = 2.0 * static_cast<double>(payload.count);  // read and written
  if (issue.out.size() > 1) return {1.5 * once, 0};              // written as zeros before
  const bool rows = even && issue.move.dim == 0 && issue.move.part == 0;
  switch (issue.move.kind) {
    case MoveKind::all_reduce:
      return {in_place ? 0 : once, 0};
    case MoveKind::reduce_scatter:
      return {rows ? 0 : once, 0};
    case MoveKind::all_gather:
      return {0, rows ? 0 : once};
    case MoveKind::rotate:
    case MoveKind::rotate_back:
      return {once, 1.5 * once};
    case MoveKind::all_to_all:
      return {once, once};
    default:
      return {};
  }
}

}  // namespace planscope
