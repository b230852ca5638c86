#pragma once
// When a search has to end: its time is over, its work is done, or somebody asked it to stop (Ctrl-C, a button). Read from
// any thread; work is counted by one.
//
// Work is what Z3 counts of its steps (`rlimit`; some millions a second). It ends a search at the same place on a fast machine and a
// slow one, so what decides an answer is limited by work, and by time only where the user's limit comes first.
//
//   const Deadline deadline(0.5, &stop);
//   while (!deadline.expired()) …
//   std::int64_t work = 1'000'000;
//   check_until(solver, {}, deadline.with_work(&work));     // work: what is left
#include <atomic>
#include <chrono>
#include <cstdint>

namespace planscope {

class Deadline {
 public:
  explicit Deadline(double seconds, const std::atomic<bool>* stop = nullptr);
  Deadline within(double seconds) const;         // this one, or so many seconds from now: whichever comes first
  Deadline with_work(std::int64_t* left) const;  // this one, or when nothing is left of it; null: as long as time is

  bool expired() const { return stopped() || worked_out() || std::chrono::steady_clock::now() >= end_; }
  bool worked_out() const { return work_ && *work_ <= 0; }
  bool stopped() const { return stop_ && stop_->load(); }
  unsigned milliseconds_left() const;  // at least 1
  const std::atomic<bool>* stop() const { return stop_; }
  std::int64_t* work() const { return work_; }

 private:
  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* stop_;
  std::int64_t* work_ = nullptr;
};

}  // namespace planscope
