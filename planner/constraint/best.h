#pragma once
// The best that one search has found: of the combinations of choices that keep all rows that count the shortest, or, where the
// search is for memory, the one that needs least at the places of a row.
//
//   Best best(assignments, rows, goal);
//   if (best.score(a, looked).good()) best.take(a, picks, looked);
//   std::optional<Found> found = best.written(plan);
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/constraint/assignments.h"

namespace planscope::constraint {

struct Found {
  plan::Plan plan;  // with joint line numbers
  plan::OpenValues values;
  Evaluation evaluation;
  std::int64_t bytes = 0;    // Goal::memory_line: the largest peak at its places
  std::vector<int> devices;  // that have it
  std::string where;         // the same in words: `pipe=2`, `devices 8-15`; empty: all of them
};

struct Goal {
  bool any = false;     // ends with the first plan that breaks no row
  int memory_line = 0;  // the least memory at the places of this row, instead of the shortest step
};

// How far a plan is from keeping its rows, then how fast it is.
struct Score {
  bool possible = false;
  std::int64_t excess = 0;  // bytes above memory rows
  double step_us = 0;
  bool operator<(const Score& o) const {
    if (possible != o.possible) return possible;
    if (excess != o.excess) return excess < o.excess;
    return step_us < o.step_us;
  }
  bool good() const { return possible && excess == 0; }
};

class Best {
 public:
  using Progress = std::function<void(double step_us, double lower_bound_us)>;
  Best(Assignments&, const Rows&, const Goal&, Progress = {});  // the assignments and the rows outlive it

  Score score(const Assignment&, const Looked&) const;
  void take(Assignment&, const std::vector<int>& picks, const Looked&);  // unless there is a better one

  explicit operator bool() const { return found_.has_value(); }
  bool enough() const { return goal_.any && found_; }
  int taken() const { return taken_; }  // how often a better one came
  double step_us() const { return found_->evaluation.step_us; }
  Assignment& assignment() const { return *assignment_; }
  const std::vector<int>& picks() const { return picks_; }
  const Goal& goal() const { return goal_; }

  std::optional<Found> written(const plan::Plan&);  // with its answers in the plan

 private:
  Assignments& assignments_;
  const Rows& rows_;
  const Goal goal_;
  const Progress progress_;
  std::optional<Found> found_;
  Assignment* assignment_ = nullptr;
  std::vector<int> picks_;
  int taken_ = 0;
};

}  // namespace planscope::constraint
