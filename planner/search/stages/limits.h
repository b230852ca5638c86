#pragma once
// Rows that shape how points are cut, known before a plan is made: `memory(all)`, and layers that may not be computed again
// or offloaded.
//
//   const Limits limits(rules, cluster, largest, {1, 2});      // 1: memory(all) <= 20GiB, 2: forbid trans * recompute
//   limits.cut(costs, configuration).best                       // nothing: none fits, and
//   limits.cut(costs, configuration).why                        // of the rows, those that together leave none
#include <optional>
#include <vector>

#include "planner/search/stages/rules.h"
#include "planner/search/stages/space.h"

namespace planscope::stages {

class Limits {
 public:
  // `largest`: bytes of the largest device.
  Limits(const Rules&, const Cluster&, std::int64_t largest, const constraint::Rows& counted);

  const constraint::Rows& rows() const { return rows_; }  // that shape cuts
  std::int64_t memory() const { return memory_; }         // of a device, at most

  // The configuration under the rows, and what its layers take then.
  Configuration limited(Configuration) const;
  static void keep_once(Space::Costs&, const Configuration&);

  struct Cut {
    std::optional<Partition> best;
    constraint::Rows why;  // nothing fits: none of them, if that is so without rows
  };
  Cut cut(const Space::Costs&, const Configuration&) const;

 private:
  std::optional<Partition> under(const constraint::Rows&, Space::Costs, Configuration) const;
  std::int64_t memory_under(const constraint::Rows&) const;

  const Rules& rules_;
  const Cluster& cluster_;
  const std::int64_t largest_;
  std::int64_t memory_ = 0;
  constraint::Rows rows_;
};

}  // namespace planscope::stages
