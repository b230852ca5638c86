#pragma once
// Whether tasks of an order row ever share a device: a row between others orders nothing.
//
//   MeetingTasks meeting(decisions);
//   if (meeting.apart(row)) …              // `order b(S[0])[0] < f(S[1])[0]`, where S[0] and S[1] are on devices of their own
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::plan {

class MeetingTasks {
 public:
  explicit MeetingTasks(const Decisions& d) : d_(d) {}

  // The first two tasks of the row, as places in its chain, if no two of it share a device. Nothing: two do, or may, since it is not
  // known yet where they run.
  std::optional<std::pair<std::size_t, std::size_t>> apart(const OrderRow&);

 private:
  const std::vector<int>& devices(int unit);
  bool meet(const TaskFamily&, const TaskFamily&);
  const Decisions& d_;
  std::map<int, std::vector<int>> devices_of_unit_;  // none: not known
};

}  // namespace planscope::plan
