#include "planner/constraint/tracked_solver.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace planscope::constraint {
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

}  // namespace

Clock::Clock(const Limits& limits) : stop_(limits.stop) {
  const double seconds = std::clamp(limits.seconds, 0.0, 1e6);
  end_ = std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
}

bool Clock::expired() const { return stopped() || std::chrono::steady_clock::now() >= end_; }

unsigned Clock::milliseconds_left() const {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now()).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(left, 1, 1'000'000'000));
}

TrackedSolver::TrackedSolver(const Clock& clock) : clock_(clock), solver_(context_) {
  z3::params p(context_);
  p.set("random_seed", 0u);
  solver_.set(p);
}

z3::expr TrackedSolver::literal(int line) {
  const auto found = literals_.find(line);
  if (found != literals_.end()) return found->second;
  return literals_.emplace(line, context_.bool_const(("line " + std::to_string(line)).c_str())).first->second;
}

void TrackedSolver::add(const std::vector<int>& lines, const z3::expr& fact) {
  z3::expr guard = context_.bool_val(true);
  for (int line : lines) guard = guard && literal(line);
  solver_.add(lines.empty() ? fact : z3::implies(guard, fact));
}

Answer TrackedSolver::check() {
  if (clock_.expired()) return Answer::unknown;
  z3::params p(context_);
  p.set("timeout", clock_.milliseconds_left());
  solver_.set(p);
  z3::expr_vector assumptions(context_);
  for (const auto& [line, literal] : literals_) assumptions.push_back(literal);
  z3::check_result answer = z3::unknown;
  {
    const Watch watch(context_, clock_.stop());
    answer = solver_.check(assumptions);
  }
  if (answer == z3::sat) {
    model_.emplace(solver_.get_model());
    return Answer::yes;
  }
  if (answer == z3::unknown) return Answer::unknown;
  core_.clear();
  const z3::expr_vector core = solver_.unsat_core();
  for (unsigned i = 0; i < core.size(); ++i)
    for (const auto& [line, literal] : literals_)
      if (z3::eq(literal, core[static_cast<int>(i)])) core_.push_back(line);
  std::sort(core_.begin(), core_.end());
  return Answer::no;
}

std::int64_t TrackedSolver::value(const z3::expr& integer) const {
  return model_->eval(integer, true).get_numeral_int64();
}

bool TrackedSolver::holds(const z3::expr& boolean) const { return model_->eval(boolean, true).is_true(); }

}  // namespace planscope::constraint
