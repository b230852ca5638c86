#include <algorithm>

#include "planner/search/schedule/timeline.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Who ends when the next task of a resource starts, and how that holds it up.
class Reasons {
 public:
  Reasons(const Problem& p, const Timeline& t) : p_(p), t_(t), waits_(t.start.size()), on_(at(p.resources)) {
    for_each_wait(p, [&](int before, int after, std::int64_t span, int row) {
      waits_[at(after)].push_back({before, span, row});
    });
    for (int i : order_of(p, t))
      if (p.tasks[at(i / p.rounds)].time > 0)
        for (int r : p.tasks[at(i / p.rounds)].resources) on_[at(r)].push_back(i);
  }

  std::vector<Idle> all() const {
    const std::int64_t end = makespan(p_, t_);
    std::vector<Idle> out;
    for (int r = 0; r < p_.resources; ++r) {
      std::int64_t now = 0;
      for (int i : on_[at(r)]) {
        if (t_.start[at(i)] > now) out.push_back(reason(r, now, i));
        now = end_of(i);
      }
      if (!on_[at(r)].empty() && now < end) out.push_back({Idle::Cause::end, r, now, end, false, -1, -1});
    }
    return out;
  }

 private:
  struct Wait {
    int before;
    std::int64_t span;
    int row;
  };

  std::int64_t end_of(int i) const { return t_.start[at(i)] + p_.tasks[at(i / p_.rounds)].time; }

  Idle reason(int resource, std::int64_t from, int next) const {
    const std::int64_t start = t_.start[at(next)];
    Idle out{Idle::Cause::order, resource, from, start, from == 0, -1, -1};
    const auto because = [&](Idle::Cause cause, int other) {
      out.cause = cause;
      out.task = other / p_.rounds;
      out.round = other % p_.rounds;
      return out;
    };
    for (const Wait& w : waits_[at(next)])
      if (t_.start[at(w.before)] + w.span == start)
        return because(w.row >= 0                 ? Idle::Cause::order
                       : end_of(w.before) <= from ? Idle::Cause::transfer
                                                  : Idle::Cause::data,
                       w.before);
    const Task& t = p_.tasks[at(next / p_.rounds)];
    for (int d : t.devices) {
      if (t.memory <= 0 || !p_.memory[at(d)]) continue;
      for (int giver : p_.on_device[at(d)])
        for (int n = 0; n < p_.rounds && p_.tasks[at(giver)].memory < 0; ++n)
          if (end_of(giver * p_.rounds + n) == start) return because(Idle::Cause::memory, giver * p_.rounds + n);
    }
    for (int r : t.resources)
      for (int other : on_[at(r)])
        if (r != resource && end_of(other) == start) return because(Idle::Cause::device, other);
    return out;
  }

  const Problem& p_;
  const Timeline& t_;
  std::vector<std::vector<Wait>> waits_;
  std::vector<std::vector<int>> on_;  // instances by resource, by start
};

}  // namespace

std::string_view to_string(Idle::Cause c) {
  switch (c) {
    case Idle::Cause::data:
      return "data";
    case Idle::Cause::transfer:
      return "transfer";
    case Idle::Cause::memory:
      return "memory";
    case Idle::Cause::device:
      return "device";
    case Idle::Cause::order:
      return "order";
    case Idle::Cause::end:
      return "end";
  }
  return "?";
}

std::vector<Idle> idle_times(const Problem& p, const Timeline& t) { return Reasons(p, t).all(); }

}  // namespace planscope::schedule
