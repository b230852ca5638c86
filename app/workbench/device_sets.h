#pragma once
// Sets of devices that follow from coordinates, without a list of them: how the devices of a place fall apart when some
// digits of its axes are told from each other, and how people read such a set.
//
//   const Coordinates c(program, place, {digit_of_data});
//   c.told()                       // one component: 8 coordinates of `data`
//   c.devices({3})                 // the devices with coordinate 3 there: one group, all others free
//   devices_text(c.devices({3}))   // "12–15", "3, 11, …, 8187"
//
// On a grid that lists its devices, groups list theirs; everywhere else a group costs nothing per device.
#include <string>
#include <vector>

#include "engine/cluster/communication.h"
#include "engine/program/program.h"

namespace planscope {

// Coordinates [0, size) of an axis that are `stride` apart: a digit in the mixed radix that all digits of the axis make
// together.
struct Component {
  AxisId axis = -1;
  std::int64_t size = 1, stride = 1;
  bool operator==(const Component&) const = default;
};

class Coordinates {
 public:
  // Digits of other grids, of free axes and of axes that the place fixes are left out of account. Of a turned digit,
  // the axis that turns it is told too.
  Coordinates(const Program&, const Place&, const std::vector<Digit>&);

  const std::vector<Component>& told() const { return told_; }
  int find(const Digit&) const;  // the first told component of the digit; -1: none

  // Of every told component the coordinates [first, first + count); all of the others.
  struct Range {
    std::int64_t first = 0, count = 1;
  };
  DeviceGroup devices(const std::vector<Range>&) const;
  std::vector<DeviceGroup> groups() const;  // of all told coordinates, one for each of the others
  Point point(const std::vector<std::int64_t>& coordinates) const;  // of the grid's axes; others -1
  std::int64_t copies() const;  // devices with the same coordinates of all told components
  // as a place of the plan language: `pipe=0, data=3`
  std::string text(const std::vector<std::int64_t>& coordinates) const;

 private:
  std::int64_t stride_of(AxisId) const;

  const Program& program_;
  Place place_;
  std::vector<Component> told_, free_;
};

// ascending; the first ones, where there are more
std::vector<std::int64_t> members(const DeviceGroup&, std::int64_t most);
bool contains(const DeviceGroup&, std::int64_t device);
std::string devices_text(const std::vector<DeviceGroup>&);  // `0–3, 8–11`, `0, 8, …, 8184`, `0–3, 8–11, …, 8188–8191`

}  // namespace planscope
