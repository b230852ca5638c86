#pragma once
// When a search has to end: its time is over, or somebody asked it to stop (Ctrl-C, a button). Read from any thread.
//
//   const Deadline deadline(0.5, &stop);
//   while (!deadline.expired()) …
#include <atomic>
#include <chrono>

namespace planscope {

class Deadline {
 public:
  explicit Deadline(double seconds, const std::atomic<bool>* stop = nullptr);
  Deadline within(double seconds) const;  // this one, or so many seconds from now: whichever comes first

  bool expired() const { return stopped() || std::chrono::steady_clock::now() >= end_; }
  bool stopped() const { return stop_ && stop_->load(); }
  unsigned milliseconds_left() const;  // at least 1
  const std::atomic<bool>* stop() const { return stop_; }

 private:
  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* stop_;
};

}  // namespace planscope
