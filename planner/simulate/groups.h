#pragma once
// Which device classes must meet for a collective. Members of one communicator may stand in several device classes (a
// segment that runs on all stages); then those classes form a *party* that starts together.
#include <map>
#include <vector>

#include "engine/program/program.h"

namespace planscope {

class Parties {
 public:
  explicit Parties(const Program&);

  // For each device class the party that it belongs to (the smallest class number in it), -1 for classes that do not run
  // on the place; empty if every communicator stays within one class.
  const std::vector<int>& of(PlaceId, const std::vector<Digit>&);

 private:
  std::vector<int> compute(PlaceId, const std::vector<Digit>&) const;

  const Program& program_;
  std::vector<int> class_of_;  // by device
  std::map<std::pair<PlaceId, std::vector<Digit>>, std::vector<int>> known_;
};

}  // namespace planscope
