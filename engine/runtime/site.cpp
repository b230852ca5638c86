#include "engine/runtime/site.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "engine/program/transfer.h"

namespace planscope {

namespace {

bool same_outside(const Point& a, const Point& b, const std::vector<Digit>& digits) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    std::int64_t x = a[axis], y = b[axis];
    for (const Digit& d : digits) {
      if (d.axis != static_cast<AxisId>(axis)) continue;
      x -= digit_value(d, a) * d.stride;
      y -= digit_value(d, b) * d.stride;
    }
    if (x != y) return false;
  }
  return true;
}

}  // namespace

Point Site::point(PlaceId place, int device, const Point& free_indices) const {
  Point at = point_of(program_, program_.places[static_cast<std::size_t>(place)], device);
  if (at.empty()) return at;
  for (std::size_t axis = 0; axis < free_indices.size() && axis < at.size(); ++axis) {
    if (free_indices[axis] >= 0) at[axis] = free_indices[axis];
  }
  return at;
}

Region Site::region(ProgramValueId id, int device, const Point& free_indices) const {
  const ProgramValue& value = program_.values[static_cast<std::size_t>(id)];
  const Point at = point(value.place, device, free_indices);
  if (at.empty()) throw std::logic_error("a value of another place");
  return planscope::region(graph_, value.tensor, program_.layouts[static_cast<std::size_t>(value.layout)], at);
}

std::vector<Region> Site::regions(ProgramValueId id, int device, const Point& free_indices) const {
  const ProgramValue& value = program_.values[static_cast<std::size_t>(id)];
  const Point at = point(value.place, device, free_indices);
  if (at.empty()) throw std::logic_error("a value of another place");
  return planscope::regions(graph_, value.tensor, program_, program_.layouts[static_cast<std::size_t>(value.layout)],
                            at);
}

bool Site::is_one_region(ProgramValueId id) const {
  const LayoutId layout = program_.values[static_cast<std::size_t>(id)].layout;
  return !holds_every(program_.layouts[static_cast<std::size_t>(layout)]);
}

std::vector<int> Site::group(PlaceId place, const std::vector<Digit>& digits, int device) const {
  const Place& at = program_.places[static_cast<std::size_t>(place)];
  const Point own = point_of(program_, at, device);
  std::vector<int> members;
  for (const int other : devices(program_, at)) {
    if (same_outside(own, point_of(program_, at, other), digits)) members.push_back(other);
  }
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<std::vector<int>> Site::all_groups() const {
  std::set<std::vector<int>> groups;
  std::set<std::pair<PlaceId, std::vector<Digit>>> seen;
  for (const Segment& segment : program_.segments) {
    for (const Instruction& i : segment.instructions) {
      if (i.code != Code::issue || !seen.insert({segment.place, communicator(i.move)}).second) continue;
      for (const int device : devices(program_, program_.places[static_cast<std::size_t>(segment.place)])) {
        groups.insert(group(segment.place, communicator(i.move), device));
      }
    }
  }
  std::vector<std::vector<int>> out;
  for (const auto& members : groups) {
    if (members.size() > 1) out.push_back(members);
  }
  return out;
}

std::vector<TransferBlock> Site::blocks_to(const Transfer& transfer, std::size_t k, int receiver,
                                           const Point& free_indices) const {
  const Region wanted = region(transfer.to[k], receiver, free_indices);
  const auto place_of = [&](ProgramValueId v) -> const Place& {
    return program_.places[static_cast<std::size_t>(program_.values[static_cast<std::size_t>(v)].place)];
  };
  const Place &from = place_of(transfer.from[k]), &to = place_of(transfer.to[k]);
  std::vector<std::pair<Region, std::vector<int>>> holders;  // distinct blocks in device order
  for (const int device : devices(program_, from)) {
    const Region held = region(transfer.from[k], device, free_indices);
    const auto known = std::find_if(holders.begin(), holders.end(), [&](const auto& h) { return h.first == held; });
    if (known != holders.end())
      known->second.push_back(device);
    else
      holders.push_back({held, {device}});
  }
  std::vector<TransferBlock> blocks;
  for (const auto& [held, who] : holders) {
    const Region common = intersection(held, wanted);
    if (elements(common) == 0) continue;
    blocks.push_back({sender_of(program_, from, to, who, receiver), receiver, common});
  }
  return blocks;
}

}  // namespace planscope
