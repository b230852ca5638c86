#pragma once
// The time, handed to whoever needs it, so that tests can move it by hand. `wall` is for records (when was this made),
// `steady` for deadlines and durations; the two have nothing to do with each other.
//
//   SystemClock clock;
//   const std::int64_t deadline = clock.steady_us() + 3'000'000;
#include <chrono>
#include <cstdint>

namespace planscope {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t wall_us() const = 0;    // microseconds since 1970-01-01 UTC
  virtual std::int64_t steady_us() const = 0;  // microseconds since an unknown moment; never goes back
};

class SystemClock final : public Clock {
 public:
  std::int64_t wall_us() const override { return count(std::chrono::system_clock::now()); }
  std::int64_t steady_us() const override { return count(std::chrono::steady_clock::now()); }

 private:
  template <class Moment>
  static std::int64_t count(Moment moment) {
    return std::chrono::duration_cast<std::chrono::microseconds>(moment.time_since_epoch()).count();
  }
};

// Stands still until it is moved.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::int64_t now_us = 0) : now_us_(now_us) {}
  void advance_us(std::int64_t us) { now_us_ += us; }
  std::int64_t wall_us() const override { return now_us_; }
  std::int64_t steady_us() const override { return now_us_; }

 private:
  std::int64_t now_us_;
};

}  // namespace planscope
