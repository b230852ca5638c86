#pragma once
// Why rows leave no plan: minimal conflicts between them, what taking each of them out comes to, and what memory would have to
// be there.
//
//   WhyNot why(cluster, spaces, trials, rules, find);
//   found.conflicts = why.conflicts(deadline, 3'000'000).all;
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/stages/spaces.h"
#include "planner/search/stages/trials.h"

namespace planscope::stages {

struct Sought {
  Found found;
  constraint::Rows core;  // impossible: rows that leave nothing
  bool lacked = false;    // PointPlans::lacked
};

class WhyNot {
 public:
  // A search of the whole space for the best plan, or any.
  using Find = std::function<Sought(const Asked&)>;
  WhyNot(const Cluster&, Spaces&, const Trials&, const Rules&, Find);

  // Of rows that leave nothing. Without a row of a conflict there is some plan: better ones are looked for with so much work.
  constraint::ExplainedConflicts conflicts(const Deadline&, std::int64_t relaxing_work);

 private:
  struct Need {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::min();  // at least
    bool exact = false;
  };
  // What a point of the space needs at least, by the costs of its layers, as long as the same of them may be computed again.
  struct Room {
    Space* space = nullptr;
    Point point;
    std::array<Need, 2> need = {};  // within what devices have, or a row allows
  };

  std::optional<std::int64_t> limit_of(int row) const;  // in bytes; nothing: it is no row of memory
  std::optional<constraint::MemoryNeed> need(int row, const constraint::Rows& others, const Deadline&);
  bool templates_may_need_less(int row, const constraint::Rows& others, std::int64_t bytes, const Deadline&);
  std::vector<Room>& rooms(const constraint::Rows&, const Deadline&);
  // kNoBytes: `below` or more.
  std::int64_t least_of(std::optional<Space::Costs>, const Configuration&, int row, std::int64_t below) const;
  std::string where(const Room&, int row, std::int64_t bytes) const;
  std::string fullest_stage(const Configuration&, Space::Costs, std::int64_t memory) const;

  const Cluster& cluster_;
  Spaces& spaces_;
  const Trials& trials_;
  const Rules& rules_;
  const Find find_;
  std::vector<Room> rooms_;  // those that are measured first
  std::size_t size_ = 0;     // of the spaces that they are of
  constraint::Rows once_;  // the rows that `rooms_` are known for: of those that keep layers from being computed again
};

}  // namespace planscope::stages
