#include <algorithm>

#include "planner/search/schedule/timeline.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Who ends when the next task of a resource starts, and how that holds it up.
class Reasons {
 public:
  Reasons(const Problem& p, const Timeline& t)
      : p_(p), t_(t), waits_(t.start.size()), on_(at(p.resources)), memory_(at(p.devices)) {
    for_each_wait(p, [&](int before, int after, std::int64_t span, int row) {
      waits_[at(after)].push_back({before, span, row});
    });
    for (int i : order_of(p, t)) {
      const Task& task = p.tasks[at(i / p.rounds)];
      if (task.time > 0)
        for (int r : task.resources) on_[at(r)].push_back(i);
      if (task.memory != 0)
        for (int d : task.devices)
          memory_[at(d)].push_back({task.memory > 0 ? t.start[at(i)] : end_of(i), task.memory, i});
    }
    for (std::vector<Change>& changes : memory_) {
      std::stable_sort(changes.begin(), changes.end(),
                       [](const Change& a, const Change& b) { return a.moment < b.moment; });
      std::int64_t held = 0;
      for (Change& c : changes) {
        held += c.amount;
        c.held = held;
      }
    }
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

  struct Change {  // of what a device holds
    std::int64_t moment, amount;
    int by;                 // a run
    std::int64_t held = 0;  // behind it
  };

  // What gives memory back at that moment, without which a take would have no room; -1: nothing.
  int waited_for(int device, std::int64_t take, std::int64_t moment) const {
    const std::vector<Change>& changes = memory_[at(device)];
    auto next = std::lower_bound(changes.begin(), changes.end(), moment,
                                 [](const Change& c, std::int64_t m) { return c.moment < m; });
    const std::int64_t held = next == changes.begin() ? 0 : std::prev(next)->held;
    if (held + take <= *p_.memory[at(device)]) return -1;
    for (; next != changes.end() && next->moment == moment; ++next)
      if (next->amount < 0) return next->by;
    return -1;
  }

  // What ends on the resource at that moment; -1: nothing.
  int ends_at(int resource, std::int64_t moment) const {
    const std::vector<int>& runs = on_[at(resource)];
    const auto found =
        std::lower_bound(runs.begin(), runs.end(), moment, [&](int run, std::int64_t m) { return end_of(run) < m; });
    return found != runs.end() && end_of(*found) == moment ? *found : -1;
  }

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
      if (const int giver = waited_for(d, t.memory, start); giver >= 0) return because(Idle::Cause::memory, giver);
    }
    for (int r : t.resources)
      if (const int other = r == resource ? -1 : ends_at(r, start); other >= 0)
        return because(Idle::Cause::device, other);
    return out;
  }

  const Problem& p_;
  const Timeline& t_;
  std::vector<std::vector<Wait>> waits_;
  std::vector<std::vector<int>> on_;         // instances by resource, by start
  std::vector<std::vector<Change>> memory_;  // by device, by moment
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
