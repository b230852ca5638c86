#include "planner/search/schedule/finite.h"

#include <algorithm>

#include "planner/search/schedule/order_encoded.h"
#include "planner/solver/z3_check.h"

namespace planscope::schedule {
namespace {

constexpr std::int64_t kOneLength = 60'000'000;  // of Z3, about ten seconds: then other lengths are tried

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Model {
 public:
  Model(const Problem& p, std::int64_t length) : p_(p), length_(length), solver_(context_, "QF_FD") {
    prepare(solver_);
    const std::vector<std::int64_t> head = heads(p), tail = tails(p);
    in_turn_ = interchangeable(p);
    for (std::size_t t = 0; t < p.tasks.size(); ++t)
      for (int n = 0; n < p.rounds; ++n) {
        const std::int64_t low = head[t] + (in_turn_ ? n : 0) * p.tasks[t].time;
        const std::int64_t high = length - tail[t] - (in_turn_ ? p.rounds - 1 - n : 0) * p.tasks[t].time;
        impossible_ = impossible_ || low > high;
        start_.push_back(ordered(solver_, "s" + std::to_string(t) + "." + std::to_string(n), low, std::max(low, high)));
      }
    if (impossible_) return;
    add_precedences();
    add_resources();
    add_memory();
  }

  z3::check_result solve(const Deadline& deadline) {
    return impossible_ ? z3::unsat : check_until(solver_, z3::expr_vector(context_), deadline);
  }

  Timeline read() {
    const z3::model m = solver_.get_model();
    Timeline out;
    for (const Ordered& s : start_) out.start.push_back(value(m, s));
    return out;
  }

 private:
  z3::expr from(int instance, std::int64_t moment) { return at_least(context_, start_[at(instance)], moment); }

  void add_after(int before, int after, std::int64_t span) {
    const Ordered& a = start_[at(before)];
    const Ordered& b = start_[at(after)];
    for (std::int64_t v = a.low; v <= a.high(); ++v)
      if (v + span > b.low) solver_.add(!from(before, v) || from(after, v + span));
  }

  void add_precedences() {
    for_each_wait(p_, [&](int before, int after, std::int64_t span, int) { add_after(before, after, span); });
    for (int t = 0; in_turn_ && t < static_cast<int>(p_.tasks.size()); ++t)
      for (int n = 0; n + 1 < p_.rounds; ++n) add_after(t * p_.rounds + n, t * p_.rounds + n + 1, p_.tasks[at(t)].time);
  }

  void add_resources() {
    for (int r = 0; r < p_.resources; ++r) {
      std::vector<int> here;
      for (int t = 0; t < static_cast<int>(p_.tasks.size()); ++t) {
        const auto& on = p_.tasks[at(t)].resources;
        if (p_.tasks[at(t)].time > 0 && std::find(on.begin(), on.end(), r) != on.end()) here.push_back(t);
      }
      if (here.size() == 1 && in_turn_) continue;  // its rounds run one after the other already
      for (std::int64_t moment = 0; moment < length_; ++moment) {
        z3::expr_vector running(context_);
        for (int t : here)
          for (int n = 0; n < p_.rounds; ++n) {
            const int i = t * p_.rounds + n;
            const std::int64_t time = p_.tasks[at(t)].time;
            if (start_[at(i)].low > moment || start_[at(i)].high() + time <= moment) continue;
            running.push_back(from(i, moment - time + 1) && !from(i, moment + 1));
          }
        if (running.size() > 1) solver_.add(z3::atmost(running, 1));
      }
    }
  }

  void add_memory() {
    for (int d = 0; d < p_.devices; ++d) {
      if (!p_.memory[at(d)] || p_.on_device[at(d)].empty()) continue;
      for (std::int64_t moment = 0; moment < length_; ++moment) {
        Sum held;
        for (int t : p_.on_device[at(d)]) {
          const Task& task = p_.tasks[at(t)];
          const std::int64_t delay = task.memory < 0 ? task.time : 0;
          held.add(task.memory * p_.rounds);
          for (int n = 0; n < p_.rounds; ++n) held.add(from(t * p_.rounds + n, moment - delay + 1), -task.memory);
        }
        solver_.add(held.at_most(context_, *p_.memory[at(d)]));
      }
    }
  }

  const Problem& p_;
  const std::int64_t length_;
  z3::context context_;
  z3::solver solver_;
  std::vector<Ordered> start_;
  bool impossible_ = false, in_turn_ = true;
};

}  // namespace

// What is packed to the left is no longer than all that it consists of.
Fit fit(const Problem& p, const Deadline& deadline) {
  std::int64_t length = 0;
  for (const Task& t : p.tasks) length += t.time;
  for (const Edge& e : p.edges) length += e.span - p.tasks[at(e.from)].time;
  length *= p.rounds;
  Fit out;
  if (static_cast<std::int64_t>(p.tasks.size()) * p.rounds * length > kLargest) return out;
  Model model(p, length);
  const z3::check_result answer = model.solve(deadline);
  out.none = answer == z3::unsat;
  if (answer == z3::sat) out.timeline = model.read();
  return out;
}

Shorter shorter(const Problem& p, Timeline timeline, std::int64_t bound, const Deadline& deadline,
                std::int64_t largest) {
  Shorter out{std::move(timeline), bound};
  std::int64_t best = makespan(p, out.timeline);
  if (static_cast<std::int64_t>(out.timeline.start.size()) * best > largest) return out;
  std::int64_t passed = best, passed_last = best - 1;  // lengths that were passed over; none yet
  while (out.bound < best && !deadline.expired()) {
    const bool none = passed > passed_last, longer = !none && passed_last < best - 1;
    const std::int64_t low = longer ? passed_last + 1 : out.bound, high = none || longer ? best - 1 : passed - 1;
    if (low > high) break;
    const std::int64_t length = low + (high - low) / 2;
    Model model(p, length);
    const z3::check_result answer = model.solve(deadline.within_work(kOneLength));
    if (answer == z3::unsat) {
      out.bound = length + 1;
      if (length >= passed) passed = best, passed_last = best - 1;
    } else if (answer == z3::sat) {
      out.timeline = model.read();
      best = makespan(p, out.timeline);
      if (best <= passed) passed = best, passed_last = best - 1;
      passed_last = std::min(passed_last, best - 1);
    } else {
      passed_last = none ? length : std::max(passed_last, length);
      passed = none ? length : std::min(passed, length);
    }
  }
  return out;
}

}  // namespace planscope::schedule
