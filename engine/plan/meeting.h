#pragma once
// Whether tasks of an order row ever share a device: a row between others orders nothing.
//
//   MeetingTasks meeting(decisions);
//   if (meeting.apart(row)) …              // `order b(S[0])[0] < f(S[1])[0]`, where S[0] and S[1] are on devices of their own
#include <map>
#include <vector>

#include "engine/plan/bind.h"

namespace planscope::plan {

class MeetingTasks {
 public:
  explicit MeetingTasks(const Decisions& d) : d_(d) {}

  // Whether no two tasks of the row share a device. Where it is not known yet where one runs, they may.
  bool apart(const OrderRow&);

 private:
  const std::vector<int>& devices(int unit);
  bool meet(const TaskFamily&, const TaskFamily&);
  const Decisions& d_;
  std::map<int, std::vector<int>> devices_of_unit_;  // none: not known
};

}  // namespace planscope::plan
