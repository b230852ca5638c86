#include "app/session/estimate.h"

#include <algorithm>

namespace planscope::session {

void Estimate::count(double now_s, std::optional<double> done, std::optional<double> of) {
  const bool begins = of.value_or(0) != of_ || done.value_or(0) < done_;
  done_ = done.value_or(0), of_ = of.value_or(0), told_s_ = now_s;
  if (begins) begun_s_ = now_s, begun_ = done_;
}

std::optional<double> Estimate::remaining_s(double now_s) const {
  if (ends_by_s_) return std::max(0.0, *ends_by_s_ - now_s);
  if (done_ <= begun_ || of_ < done_) return std::nullopt;
  const double each = (told_s_ - begun_s_) / (done_ - begun_);
  return std::max(0.0, each * (of_ - done_) - (now_s - told_s_));
}

}  // namespace planscope::session
