#pragma once
// Rows that shape how points are cut, known before a plan is made: `memory(all)`, and layers that may not be computed again
// or offloaded.
//
//   const Limits limits(rules, cluster, largest, {1, 2});      // 1: memory(all) <= 20GiB, 2: forbid trans * recompute
//   limits.cut(configuration, costs, known).step_ns             // nothing: none fits, and
//   limits.cut(configuration, costs, known).why                 // of the rows, those that together leave none
#include <functional>
#include <map>
#include <optional>
#include <utility>
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

  // Whether some cut of one configuration fits, and what the best takes once that was asked for, by what rows leave of a device's
  // memory and which layers they let be computed once only: for all rows, as long as its costs are the same.
  struct Fitting {
    bool fits = false, cut = false;
    std::optional<std::int64_t> step_ns;  // cut: nothing, as it is another configuration's plan
  };
  using Known = std::map<std::pair<std::int64_t, std::vector<bool>>, Fitting>;
  struct Cut {
    std::optional<std::int64_t> step_ns;
    constraint::Rows why;  // nothing: the rows that leave none; empty: it is so without rows, or another point's plan
  };
  // `costs`: asked for only where they are needed; nothing: that is not known, and so no cut.
  using Costs = std::function<std::optional<Space::Costs>()>;
  std::optional<Cut> cut(const Configuration&, const Costs&, Known&) const;

 private:
  static std::optional<std::int64_t> step_ns(const Space::Costs&, const Configuration&);
  std::int64_t memory_under(const constraint::Rows&) const;

  const Rules& rules_;
  const Cluster& cluster_;
  const std::int64_t largest_;
  std::int64_t memory_ = 0;
  constraint::Rows rows_;
};

}  // namespace planscope::stages
