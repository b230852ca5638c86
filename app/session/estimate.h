#pragma once
// Estimates the remaining time of a job. The job reports how much is done of how much, both in one unit; the remaining part
// is assumed to take as long per unit as the part that is done. If the total changes, or the count falls, the job has begun
// another phase, and the estimate starts again. A job with a deadline reports that instead, and its counts are not used.
//
//   Estimate e;
//   e.count(0, 0, 8);        // at 0 s, none of 8
//   e.count(3, 2, 8);        // at 3 s, two of them
//   e.remaining_s(4)         // 8: six more would take 9 s, of which one has passed
#include <optional>

namespace planscope::session {

class Estimate {
 public:
  void count(double now_s, std::optional<double> done, std::optional<double> of);
  void ends_by(double then_s) { ends_by_s_ = then_s; }

  std::optional<double> remaining_s(double now_s) const;  // no value: it is not known yet
  bool at_most() const { return ends_by_s_.has_value(); }

 private:
  std::optional<double> ends_by_s_;
  double begun_s_ = 0, begun_ = 0;  // since when it counts, and what was done then
  double told_s_ = 0, done_ = 0, of_ = 0;
};

}  // namespace planscope::session
