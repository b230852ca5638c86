#include "planner/solver/z3_check.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace planscope {
namespace {

// Interrupts Z3 when somebody asks to stop while it checks.
class Watch {
 public:
  Watch(z3::context& context, const std::atomic<bool>* stop) {
    if (!stop) return;
    thread_ = std::jthread([this, &context, stop](const std::stop_token& done) {
      std::unique_lock lock(mutex_);
      while (!done.stop_requested()) {
        if (stop->load()) context.interrupt();
        wake_.wait_for(lock, done, std::chrono::milliseconds(20), [] { return false; });
      }
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

std::int64_t steps_done(const z3::solver& solver) {
  const z3::stats all = solver.statistics();
  for (unsigned i = 0; i < all.size(); ++i)
    if (all.key(i) == "rlimit count")
      return all.is_uint(i) ? all.uint_value(i) : static_cast<std::int64_t>(all.double_value(i));
  return 0;
}

}  // namespace

void prepare(z3::solver& solver) {
  z3::params p(solver.ctx());
  p.set("random_seed", 0U);
  p.set("ctrl_c", false);  // the program has a handler of its own, and asks to stop by the deadline
  solver.set(p);
}

z3::check_result check_until(z3::solver& solver, const z3::expr_vector& assumptions, const Deadline& deadline) {
  if (deadline.expired()) return z3::unknown;
  const std::int64_t left = deadline.work_left();
  const std::int64_t steps = left == Deadline::kAnyWork ? 0 : std::clamp<std::int64_t>(left, 1, UINT32_MAX);
  solver.ctx().set("timeout", std::to_string(deadline.milliseconds_left()).c_str());
  solver.ctx().set("rlimit", std::to_string(steps).c_str());
  const std::int64_t before = steps_done(solver);
  z3::check_result answer = z3::unknown;
  {
    const Watch watch(solver.ctx(), deadline.stop());
    answer = solver.check(assumptions);
  }
  deadline.count(steps_done(solver) - before);
  // An interrupt that came too late for the check takes the model away.
  return deadline.stopped() ? z3::unknown : answer;
}

}  // namespace planscope
