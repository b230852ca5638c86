#include "planner/search/schedule/timeline.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "engine/base/stop.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Interval {
  std::int64_t from = 0, to = 0;
};

// When a resource is busy. What takes no time stands at the borders of what does.
class Busy {
 public:
  // The earliest moment from `moment` on at which `time` fits.
  std::int64_t fit(std::int64_t moment, std::int64_t time) const {
    const std::vector<Interval>& all = time > 0 ? without_gaps_ : intervals_;
    auto next =
        std::upper_bound(all.begin(), all.end(), moment, [](std::int64_t m, const Interval& i) { return m < i.to; });
    for (; next != all.end() && next->from < moment + time; ++next) moment = std::max(moment, next->to);
    return moment;
  }
  void add(std::int64_t from, std::int64_t to) {
    const auto before = [](const Interval& a, const Interval& b) {
      return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    };
    const Interval added{from, to};
    intervals_.insert(std::upper_bound(intervals_.begin(), intervals_.end(), added, before), added);
    auto next = std::upper_bound(without_gaps_.begin(), without_gaps_.end(), added, before);
    if (next != without_gaps_.begin() && std::prev(next)->to >= to) return;  // no time, at a border inside
    const bool ends = next != without_gaps_.begin() && std::prev(next)->to == from;
    const bool begins = next != without_gaps_.end() && next->from == to;
    if (ends && begins) {
      std::prev(next)->to = next->to;
      without_gaps_.erase(next);
    } else if (ends) {
      std::prev(next)->to = to;
    } else if (begins) {
      next->from = from;
    } else {
      without_gaps_.insert(next, added);
    }
  }

 private:
  std::vector<Interval> intervals_, without_gaps_;  // in order; the latter with what touches as one
};

// What a device holds over time. What was taken is held until something gives it back.
class Held {
 public:
  // The earliest moment from `moment` on from which `amount` more fits for good.
  std::optional<std::int64_t> fit(std::int64_t moment, std::int64_t amount, std::int64_t most) const {
    if (held_ + amount > most) return std::nullopt;
    std::int64_t held = held_;
    for (auto e = events_.rbegin(); e != events_.rend() && e->moment > moment; ++e) {
      held -= e->amount;
      if (held + amount > most) return e->moment;
    }
    return moment;
  }
  void add(std::int64_t moment, std::int64_t amount) {
    held_ += amount;
    const auto place = std::lower_bound(events_.begin(), events_.end(), moment,
                                        [](const Event& e, std::int64_t m) { return e.moment < m; });
    if (place != events_.end() && place->moment == moment)
      place->amount += amount;
    else
      events_.insert(place, {moment, amount});
  }

 private:
  struct Event {
    std::int64_t moment, amount;
  };
  std::vector<Event> events_;
  std::int64_t held_ = 0;  // when all is placed that was
};

class Packer {
 public:
  explicit Packer(const Problem& p) : p_(p), busy_(at(p.resources)), held_(at(p.devices)), into_(p.tasks.size()) {
    out_.start.assign(p.tasks.size() * at(p.rounds), -1);
    for (std::size_t e = 0; e < p.edges.size(); ++e) into_[at(p.edges[e].to)].push_back(static_cast<int>(e));
    if (!p.pairs.empty()) before_.resize(out_.start.size());
    for (const Pair& w : p.pairs) before_[at(w.after)].push_back(w.before);
  }

  bool place(int instance) {
    const int task = instance / p_.rounds, round = instance % p_.rounds;
    const Task& t = p_.tasks[at(task)];
    std::int64_t moment = 0;
    for (int e : into_[at(task)]) {
      const Edge& edge = p_.edges[at(e)];
      const int before = round - edge.distance;
      if (before < 0 || before >= p_.rounds) continue;
      const std::int64_t start = out_.start[at(edge.from * p_.rounds + before)];
      if (start < 0) return false;  // not in an order that precedences allow
      moment = std::max(moment, start + edge.span);
    }
    for (std::size_t i = 0; !before_.empty() && i < before_[at(instance)].size(); ++i) {
      const int before = before_[at(instance)][i];
      if (out_.start[at(before)] < 0) return false;
      moment = std::max(moment, out_.start[at(before)] + p_.tasks[at(before / p_.rounds)].time);
    }
    const std::optional<std::int64_t> start = fit(t, moment);
    if (!start) return false;
    out_.start[at(instance)] = *start;
    for (int r : t.resources) busy_[at(r)].add(*start, *start + t.time);
    if (t.memory != 0)
      for (int d : t.devices) held_[at(d)].add(t.memory > 0 ? *start : *start + t.time, t.memory);
    return true;
  }

  Timeline take() { return std::move(out_); }

 private:
  std::optional<std::int64_t> fit(const Task& t, std::int64_t moment) const {
    while (true) {
      std::int64_t later = moment;
      for (int r : t.resources) later = busy_[at(r)].fit(later, t.time);
      for (int d : t.devices) {
        if (t.memory <= 0 || !p_.memory[at(d)]) continue;
        const std::optional<std::int64_t> room = held_[at(d)].fit(later, t.memory, *p_.memory[at(d)]);
        if (!room) return std::nullopt;
        later = *room;
      }
      if (later == moment) return moment;
      moment = later;
    }
  }

  const Problem& p_;
  std::vector<Busy> busy_;
  std::vector<Held> held_;
  std::vector<std::vector<int>> into_;
  std::vector<std::vector<int>> before_;  // runs that rows want before a run
  Timeline out_;
};

// Time in which a resource can do nothing for certain: before its first task, and before the first give-back of its device.
struct Wait {
  std::int64_t first_task = 0;
  std::int64_t first_give = 0;  // at least first_task
  bool filled = false;          // some take comes after the first give-back
};

bool runs_on(const Task& t, int resource) {
  return std::find(t.resources.begin(), t.resources.end(), resource) != t.resources.end();
}

std::int64_t load_of(const Problem& p, int resource) {
  std::int64_t load = 0;
  for (const Task& t : p.tasks)
    if (runs_on(t, resource)) load += t.time * p.rounds;
  return load;
}

// Until the first give-back: what takes runs as often as there is memory, what follows a take no more often than that, what
// follows a give-back never.
Wait first_wait(const Problem& p, int resource) {
  const std::vector<std::int64_t> head = heads(p);
  Wait out{INT64_MAX, 0, false};
  for (std::size_t t = 0; t < p.tasks.size(); ++t)
    if (runs_on(p.tasks[t], resource)) out.first_task = std::min(out.first_task, head[t]);
  out.first_give = out.first_task;
  const int device = resource / (p.resources / p.devices);
  if (!p.memory[at(device)] || p.on_device[at(device)].empty()) return out;
  for (const Edge& e : p.edges)
    if (e.distance < 0) return out;  // may wait for a later round: what runs how often is not known
  std::vector<std::int64_t> times(p.tasks.size(), p.rounds);
  std::int64_t give = INT64_MAX;
  bool filled = false;
  for (int t : p.on_device[at(device)]) {
    const Task& task = p.tasks[at(t)];
    if (task.memory < 0 && !runs_on(task, resource)) return out;  // given back by another stream
    times[at(t)] = task.memory > 0 ? std::min<std::int64_t>(p.rounds, *p.memory[at(device)] / task.memory) : 0;
    if (task.memory < 0) give = std::min(give, head[at(t)]);
    filled = filled || (task.memory > 0 && times[at(t)] < p.rounds);
  }
  for (int t : p.topological)
    for (int e : p.out_of[at(t)]) times[at(p.edges[at(e)].to)] = std::min(times[at(p.edges[at(e)].to)], times[at(t)]);
  std::int64_t work = 0;
  for (std::size_t t = 0; t < p.tasks.size(); ++t)
    if (runs_on(p.tasks[t], resource)) work += times[t] * p.tasks[t].time;
  out.first_give = std::max(out.first_task, give - work);
  out.filled = filled;
  return out;
}

}  // namespace

std::int64_t makespan(const Problem& p, const Timeline& t) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < t.start.size(); ++i) out = std::max(out, t.start[i] + p.tasks[i / at(p.rounds)].time);
  return out;
}

Problem reversed(const Problem& p) {
  Problem out = p;
  for (Edge& e : out.edges) {  // ends become starts
    const std::int64_t delay = e.span - p.tasks[at(e.from)].time;
    e = {e.to, e.from, p.tasks[at(e.to)].time + delay, -e.distance, e.row};
  }
  for (Pair& w : out.pairs) std::swap(w.before, w.after);
  std::swap(out.into, out.out_of);
  std::reverse(out.topological.begin(), out.topological.end());
  for (Task& t : out.tasks) t.memory = -t.memory;
  return out;
}

std::int64_t makespan_bound(const Problem& p) {
  const Problem back = reversed(p);
  std::int64_t out = 0;
  for (std::int64_t t : tails(p)) out = std::max(out, t);
  for (int r = 0; r < p.resources; ++r) {
    const std::int64_t load = load_of(p, r);
    if (load == 0) continue;
    const Wait front = first_wait(p, r), behind = first_wait(back, r);
    out = std::max({out, front.first_give + load + behind.first_task, front.first_task + load + behind.first_give});
    // The waits before the first give-back and after the last take are not the same time if that take comes later.
    if (front.filled && behind.filled) out = std::max(out, front.first_give + load + behind.first_give);
  }
  return out;
}

Timeline unrolled(const Problem& p, const Pattern& s) {
  Timeline out;
  look_at_stop();
  for (std::int64_t start : s.start)
    for (int n = 0; n < p.rounds; ++n) out.start.push_back(start + s.period * n);
  const std::int64_t least = *std::min_element(out.start.begin(), out.start.end());
  for (std::int64_t& start : out.start) start -= least;
  return out;
}

Orders::Orders(const Problem& p) : next_(p.tasks.size() * at(p.rounds)), waits_(next_.size(), 0) {
  for_each_wait(p, [&](int before, int after, std::int64_t, int) {
    next_[at(before)].push_back(after);
    ++waits_[at(after)];
  });
}

std::vector<int> Orders::by(const std::vector<std::int64_t>& key) const {
  using Entry = std::pair<std::int64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> waits = waits_, out;
  for (std::size_t i = 0; i < waits.size(); ++i)
    if (waits[i] == 0) ready.emplace(key[i], static_cast<int>(i));
  while (!ready.empty()) {
    look_at_stop();
    const int i = ready.top().second;
    ready.pop();
    out.push_back(i);
    for (int n : next_[at(i)])
      if (--waits[at(n)] == 0) ready.emplace(key[at(n)], n);
  }
  return out;
}

std::vector<int> order_of(const Problem& p, const Timeline& t) {
  std::vector<int> rank(p.tasks.size()), out(t.start.size());
  for (std::size_t i = 0; i < p.topological.size(); ++i) rank[at(p.topological[i])] = static_cast<int>(i);
  std::iota(out.begin(), out.end(), 0);
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    look_at_stop();
    const auto key = [&](int i) {
      const int task = i / p.rounds;
      return std::tuple(t.start[at(i)], p.tasks[at(task)].time > 0, rank[at(task)]);
    };
    return key(a) < key(b);
  });
  return out;
}

std::optional<Timeline> pack(const Problem& p, const std::vector<int>& order, const Deadline* deadline) {
  constexpr int kBetweenLooks = 256;
  Packer packer(p);
  int placed = 0;
  for (int instance : order) {
    look_at_stop();
    if (!packer.place(instance)) return std::nullopt;
    if (deadline && ++placed % kBetweenLooks == 0 && deadline->expired()) return std::nullopt;
  }
  return packer.take();
}

namespace {

Timeline mirrored(const Problem& p, const Timeline& t) {
  const std::int64_t end = makespan(p, t);
  Timeline out;
  out.start.resize(t.start.size());
  for (std::size_t i = 0; i < t.start.size(); ++i) out.start[i] = end - t.start[i] - p.tasks[i / at(p.rounds)].time;
  return out;
}

}  // namespace

Timeline squeezed(const Problem& p, Timeline t, const Deadline* deadline) {
  const Problem back = reversed(p);
  while (true) {
    const std::int64_t before = makespan(p, t);
    const std::optional<Timeline> late = pack(back, order_of(back, mirrored(p, t)), deadline);
    if (!late) return t;
    const std::optional<Timeline> early = pack(p, order_of(p, mirrored(back, *late)), deadline);
    if (!early || makespan(p, *early) >= before) return t;
    t = *early;
  }
}

Timeline in_turn(const Problem& p, Timeline t) {
  if (!interchangeable(p)) return t;
  for (auto first = t.start.begin(); first != t.start.end(); first += p.rounds) std::sort(first, first + p.rounds);
  return t;
}

std::optional<std::string> violation(const Problem& p, const Timeline& t) {
  if (t.start.size() != p.tasks.size() * at(p.rounds)) return "tasks are missing";
  std::optional<std::string> early;
  for_each_wait(p, [&](int before, int after, std::int64_t span, int) {
    if (early || t.start[at(after)] >= t.start[at(before)] + span) return;
    early = "task " + std::to_string(after / p.rounds) + " of round " + std::to_string(after % p.rounds) +
            " starts before task " + std::to_string(before / p.rounds) + " of round " +
            std::to_string(before % p.rounds) + " is done";
  });
  if (early) return early;
  const std::vector<int> order = order_of(p, t);
  std::vector<std::int64_t> free(at(p.resources), 0);
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> events(at(p.devices));
  for (int i : order) {
    const Task& task = p.tasks[at(i / p.rounds)];
    const std::int64_t start = t.start[at(i)];
    for (int r : task.resources) {
      if (task.time > 0 && free[at(r)] > start) return "two tasks overlap on resource " + std::to_string(r);
      if (task.time > 0) free[at(r)] = start + task.time;
    }
    if (task.memory != 0)
      for (int d : task.devices) events[at(d)].emplace_back(task.memory > 0 ? start : start + task.time, task.memory);
  }
  for (int d = 0; d < p.devices; ++d) {
    std::sort(events[at(d)].begin(), events[at(d)].end());  // at one moment what is given back comes first
    std::int64_t held = 0;
    for (const auto& [moment, amount] : events[at(d)])
      if ((held += amount) > p.memory[at(d)].value_or(INT64_MAX))
        return "device " + std::to_string(d) + " holds " + std::to_string(held) + " at " + std::to_string(moment);
  }
  return std::nullopt;
}

}  // namespace planscope::schedule
