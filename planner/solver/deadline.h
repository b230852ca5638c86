#pragma once
// When a search has to end: its user's time is over, its work is done, or its user asked it to stop (Ctrl-C, a button).
//
// What decides an answer is limited by work, which ends a search at the same place on a fast machine and a slow one, an idle and
// a loaded one; time is the user's limit alone. Work is counted in the steps that Z3 counts of itself (`rlimit`; some six million
// a second): whatever else a search does counts as many as take equally long, by its size and never by a clock.
//
// Copies count the same work together. Read from any thread; one thread counts, as others come to their work in any order.
//
//   const Deadline deadline(60, &stop);
//   const Deadline some = deadline.within_work(1'000'000);
//   while (!some.expired()) { …; some.count(2'000); }
//   check_until(solver, {}, some);                          // counts what Z3 did
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "engine/base/clock.h"

namespace planscope {

class Deadline {
 public:
  static constexpr std::int64_t kAnyWork = std::numeric_limits<std::int64_t>::max();

  // `clock`: that of the machine, unless another one is given, which outlives it.
  explicit Deadline(double seconds, const std::atomic<bool>* stop = nullptr, const Clock* clock = nullptr);
  // When a step that was begun within a limit of `seconds` is given up: a tenth of them and half a second later.
  static Deadline to_give_up(double seconds, const std::atomic<bool>* stop, const Clock* clock = nullptr) {
    return Deadline(1.1 * seconds + 0.5, stop, clock);
  }
  Deadline within_work(std::int64_t more) const;  // this one, or when so much more is done: whichever comes first

  bool expired() const { return worked_out() || over(); }
  bool over() const;  // of the user's time, or stopped
  bool worked_out() const { return work_left() <= 0; }
  bool stopped() const { return stop_ && stop_->load(); }
  unsigned milliseconds_left() const;  // at least 1
  double seconds_left() const;
  std::int64_t work_left() const { return last_ == kAnyWork ? kAnyWork : last_ - done_->load(); }
  void count(std::int64_t work) const { *done_ += work; }
  std::int64_t work_done() const { return done_->load(); }
  const std::atomic<bool>* stop() const { return stop_; }

 private:
  const Clock* clock_;
  std::int64_t end_us_;
  const std::atomic<bool>* stop_;
  std::shared_ptr<std::atomic<std::int64_t>> done_;
  std::int64_t last_ = kAnyWork;
};

}  // namespace planscope
