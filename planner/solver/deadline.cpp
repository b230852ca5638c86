#include "planner/solver/deadline.h"

#include <algorithm>

namespace planscope {
namespace {

const SystemClock kMachine;

}  // namespace

Deadline::Deadline(double seconds, const std::atomic<bool>* stop, const Clock* clock)
    : clock_(clock ? clock : &kMachine),
      end_us_(clock_->steady_us() + static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e6) * 1e6)),
      stop_(stop),
      done_(std::make_shared<std::atomic<std::int64_t>>(0)) {}

Deadline Deadline::within_work(std::int64_t more) const {
  Deadline out = *this;
  const std::int64_t done = work_done();
  out.last_ = more < kAnyWork - done ? std::min(last_, done + more) : last_;
  return out;
}

bool Deadline::over() const { return stopped() || clock_->steady_us() >= end_us_; }

unsigned Deadline::milliseconds_left() const {
  return static_cast<unsigned>(std::clamp<std::int64_t>((end_us_ - clock_->steady_us()) / 1000, 1, 1'000'000'000));
}

double Deadline::seconds_left() const {
  return std::max(0.0, static_cast<double>(end_us_ - clock_->steady_us()) / 1e6);
}

}  // namespace planscope
