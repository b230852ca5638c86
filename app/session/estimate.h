#pragma once
// How long a work will still take. It is told how much is done, of how much; what remains takes as long as what was done,
// each in the same unit. Where the amount changes, or less is done than before, the work has come to another part of it,
// and the estimate begins anew. A work that ends by itself at some time may say that instead: then no count is looked at.
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

  std::optional<double> remaining_s(double now_s) const;  // nothing: it is not known
  bool at_most() const { return ends_by_s_.has_value(); }

 private:
  std::optional<double> ends_by_s_;
  double begun_s_ = 0, begun_ = 0;  // since when it counts, and what was done then
  double told_s_ = 0, done_ = 0, of_ = 0;
};

}  // namespace planscope::session
