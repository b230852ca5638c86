#include "planner/solver/deadline.h"

#include <algorithm>

namespace planscope {
namespace {

std::chrono::steady_clock::time_point after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::microseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e6) * 1e6));
}

}  // namespace

Deadline::Deadline(double seconds, const std::atomic<bool>* stop) : end_(after(seconds)), stop_(stop) {}

Deadline Deadline::within(double seconds) const {
  Deadline out = *this;
  out.end_ = std::min(end_, after(seconds));
  return out;
}

Deadline Deadline::with_work(std::int64_t* left) const {
  Deadline out = *this;
  out.work_ = left;
  return out;
}

unsigned Deadline::milliseconds_left() const {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now()).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(left, 1, 1'000'000'000));
}

}  // namespace planscope
