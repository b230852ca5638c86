#include "planner/search/schedule/periodic.h"

#include <algorithm>
#include <map>

#include "planner/search/schedule/links.h"
#include "planner/search/schedule/order_encoded.h"
#include "planner/search/schedule/symmetry.h"
#include "planner/solver/z3_check.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Every release follows, along precedences, takes of as much: what is held between is the sum over paths.
bool releases_follow(const Problem& p) {
  for (int d = 0; d < p.devices; ++d) {
    if (!p.memory[at(d)]) continue;
    std::map<int, std::int64_t> left;
    for (int t : p.on_device[at(d)])
      if (p.tasks[at(t)].memory < 0) left[t] = -p.tasks[at(t)].memory;
    for (auto t = p.topological.rbegin(); t != p.topological.rend(); ++t) {
      const Task& taker = p.tasks[at(*t)];
      if (taker.memory <= 0 || std::find(taker.devices.begin(), taker.devices.end(), d) == taker.devices.end())
        continue;
      std::vector<bool> behind(p.tasks.size(), false);
      behind[at(*t)] = true;
      for (int u : p.topological)
        if (behind[at(u)])
          for (int e : p.out_of[at(u)]) behind[at(p.edges[at(e)].to)] = true;
      std::int64_t amount = taker.memory;
      for (auto& [give, rest] : left) {
        if (!behind[at(give)]) continue;
        const std::int64_t part = std::min(amount, rest);
        amount -= part;
        rest -= part;
      }
      if (amount > 0) return false;
    }
  }
  return true;
}

class Model {
 public:
  Model(const Problem& p, std::int64_t period) : p_(p), period_(period), links_(links(p)), solver_(context_, "QF_FD") {
    prepare(solver_);
    for (std::size_t t = 0; t < p.tasks.size(); ++t) r_.push_back(number("r" + std::to_string(t), 0, period - 1));
    add_rotation();
    add_resources();
    add_edges();
    add_memory();
    add_symmetry();
  }

  Periodic solve(const Deadline& deadline) {
    Periodic out;
    const z3::check_result answer = impossible_ ? z3::unsat : check_until(solver_, z3::expr_vector(context_), deadline);
    if (answer == z3::unsat && sound_) out.answer = Periodic::Answer::none;
    if (answer != z3::sat) return out;
    out.answer = Periodic::Answer::found;
    out.pattern = read(solver_.get_model());
    return out;
  }

 private:
  Ordered number(const std::string& name, std::int64_t low, std::int64_t high) {
    return ordered(solver_, name, low, high);
  }
  z3::expr atleast(const Ordered& x, std::int64_t v) { return at_least(context_, x, v); }

  void add_rotation() {
    for (const z3::expr& l : r_[at(p_.topological[0])].atleast) solver_.add(!l);
  }

  // Whether a task occupies a slot of the period.
  z3::expr covers(int task, std::int64_t slot) {
    const std::int64_t time = p_.tasks[at(task)].time;
    if (time >= period_) return context_.bool_val(true);
    const Ordered& r = r_[at(task)];
    const std::int64_t first = slot - time + 1;  // the earliest start that does
    if (first >= 0) return atleast(r, first) && !atleast(r, slot + 1);
    return !atleast(r, slot + 1) || atleast(r, first + period_);
  }

  void add_resources() {
    std::map<std::vector<int>, bool> done;  // the same tasks on several resources: once
    for (int resource = 0; resource < p_.resources; ++resource) {
      std::vector<int> tasks;
      std::int64_t load = 0;
      for (std::size_t t = 0; t < p_.tasks.size(); ++t) {
        const auto& list = p_.tasks[t].resources;
        if (p_.tasks[t].time == 0 || std::find(list.begin(), list.end(), resource) == list.end()) continue;
        tasks.push_back(static_cast<int>(t));
        load += p_.tasks[t].time;
        if (p_.tasks[t].time > period_) impossible_ = true;
      }
      if (load > period_) impossible_ = true;
      if (tasks.size() < 2 || !done.emplace(tasks, true).second) continue;
      for (std::int64_t slot = 0; slot < period_; ++slot) {
        z3::expr_vector here(context_);
        for (int t : tasks) here.push_back(covers(t, slot));
        solver_.add(z3::atmost(here, 1));
        if (load == period_) solver_.add(z3::mk_or(here));
      }
    }
  }

  // Of a task with itself in a later round.
  bool alone(std::size_t e) const { return p_.edges[e].from == p_.edges[e].to; }

  // The number of periods from start to end of an edge that r asks for.
  Ordered periods_of(std::size_t e) {
    const Edge& edge = p_.edges[e];
    const Ordered& from = r_[at(edge.from)];
    const Ordered& to = r_[at(edge.to)];
    const std::int64_t least = ceil_div(edge.span - to.high(), period_);
    const std::int64_t most = ceil_div(from.high() + edge.span, period_);
    Ordered w = number("w" + std::to_string(e), least, most);
    for (std::int64_t q = least + 1; q <= most; ++q)
      for (std::int64_t v = 0; v <= from.high(); ++v) {  // fewer than q: `to` is late enough
        const std::int64_t late = v + edge.span - (q - 1) * period_;
        if (late <= 0) continue;
        solver_.add(!atleast(from, v) || atleast(w, q) || atleast(to, late));
      }
    w.low -= edge.distance;
    return w;
  }

  void add_edges() {
    std::int64_t most = 0, ring_edges = 0;
    for (std::size_t e = 0; e < p_.edges.size(); ++e) {
      w_.push_back(periods_of(e));
      if (alone(e)) {
        if (p_.edges[e].span > period_ * p_.edges[e].distance) impossible_ = true;
        continue;
      }
      if (!links_.bridge[e]) {
        most = std::max({most, std::abs(w_.back().low), std::abs(w_.back().high())});
        ++ring_edges;
      }
    }
    if (ring_edges == 0) return;
    add_ring_tasks(most);
    for (std::size_t e = 0; e < p_.edges.size(); ++e) {
      if (links_.bridge[e] || alone(e)) continue;
      const Ordered& from = k_.at(p_.edges[e].from);
      const Ordered& to = k_.at(p_.edges[e].to);
      for (std::int64_t w = w_[e].low; w <= w_[e].high(); ++w)
        for (std::int64_t v = from.low; v <= from.high(); ++v) {
          if (v + w <= to.low) continue;
          solver_.add(!atleast(from, v) || !atleast(w_[e], w) || atleast(to, v + w));
        }
    }
  }

  // k of ring tasks, relative to the ring's root, within what the edges leave.
  void add_ring_tasks(std::int64_t most) {
    std::vector<std::int64_t> size(links_.ring_root.size(), 0);
    for (int ring : links_.ring)
      if (ring >= 0) ++size[at(ring)];
    for (std::size_t ring = 0; ring < links_.ring_root.size(); ++ring) {
      const std::int64_t reach = (size[ring] - 1) * most;
      std::map<int, std::int64_t> low, high;
      for (std::size_t t = 0; t < p_.tasks.size(); ++t)
        if (links_.ring[t] == static_cast<int>(ring))
          low[static_cast<int>(t)] = -reach, high[static_cast<int>(t)] = reach;
      low[links_.ring_root[ring]] = high[links_.ring_root[ring]] = 0;
      bool changed = true;
      for (std::int64_t round = 0; changed && round <= size[ring]; ++round) {
        changed = false;
        for (std::size_t e = 0; e < p_.edges.size(); ++e) {
          const Edge& edge = p_.edges[e];
          if (links_.bridge[e] || alone(e) || links_.ring[at(edge.from)] != static_cast<int>(ring)) continue;
          if (low[edge.to] < low[edge.from] + w_[e].low) low[edge.to] = low[edge.from] + w_[e].low, changed = true;
          if (high[edge.from] > high[edge.to] - w_[e].low) high[edge.from] = high[edge.to] - w_[e].low, changed = true;
        }
      }
      for (const auto& [task, least] : low) {
        if (least > high[task]) impossible_ = true;
        k_.emplace(task, number("k" + std::to_string(task), least, std::max(least, high[task])));
      }
    }
  }

  void add_memory() {
    sound_ = releases_follow(p_);
    for (int d = 0; d < p_.devices; ++d) {
      if (!p_.memory[at(d)] || p_.on_device[at(d)].empty()) continue;
      std::vector<std::int64_t> c(p_.tasks.size(), 0);
      for (int t : p_.on_device[at(d)]) c[at(t)] = -p_.tasks[at(t)].memory;
      const std::optional<Terms> all = terms(p_, links_, c);
      if (!all) {
        sound_ = false;
        continue;
      }
      Sum base;
      for (std::size_t e = 0; e < p_.edges.size(); ++e) {
        if (links_.bridge[e]) base.add(w_[e], all->bridges[e]);
        if (links_.bridge[e] && all->bridges[e] < 0) sound_ = false;
      }
      for (const auto& [task, k] : k_) base.add(k, all->tasks[at(task)]);
      for (std::int64_t slot = 0; slot < period_; ++slot) {
        Sum held = base;
        for (int t : p_.on_device[at(d)]) add_rounds(held, t, slot);
        solver_.add(held.at_most(context_, *p_.memory[at(d)]));
      }
    }
  }

  // How many rounds of a task have taken, or given back, by a slot, less -k.
  void add_rounds(Sum& held, int task, std::int64_t slot) {
    const Task& t = p_.tasks[at(task)];
    const std::int64_t delay = t.memory < 0 ? t.time : 0;
    held.add(t.memory);
    for (std::int64_t late = slot - delay + 1; late <= r_[at(task)].high(); late += period_)
      if (late <= 0)
        held.add(-t.memory);
      else
        held.add(atleast(r_[at(task)], late), -t.memory);
  }

  void add_symmetry() {
    for (const auto& [a, b] : mirrored_parts(p_, links_))
      if (a == p_.topological[0]) solver_.add(!atleast(r_[at(b)], period_ / 2 + 1));
  }

  Pattern read(const z3::model& m) const {
    Pattern out{period_, std::vector<std::int64_t>(p_.tasks.size(), 0)};
    std::vector<std::int64_t> k(p_.tasks.size(), 0), r;
    for (const Ordered& x : r_) r.push_back(value(m, x));
    for (const Links::Visit& v : links_.walk) {
      if (v.parent < 0) continue;
      if (v.edge < 0) {
        k[at(v.task)] = k[at(v.parent)] + value(m, k_.at(v.task));
        continue;
      }
      const Edge& e = p_.edges[at(v.edge)];
      const std::int64_t w = ceil_div(r[at(e.from)] + e.span - r[at(e.to)], period_) - e.distance;
      k[at(v.task)] = k[at(v.parent)] + (e.to == v.task ? w : -w);
    }
    std::vector<std::int64_t> least(at(links_.parts), INT64_MAX);
    for (std::size_t t = 0; t < k.size(); ++t) least[at(links_.part[t])] = std::min(least[at(links_.part[t])], k[t]);
    for (std::size_t t = 0; t < k.size(); ++t) out.start[t] = period_ * (k[t] - least[at(links_.part[t])]) + r[t];
    return out;
  }

  const Problem& p_;
  const std::int64_t period_;
  const Links links_;
  z3::context context_;
  z3::solver solver_;
  std::vector<Ordered> r_, w_;
  std::map<int, Ordered> k_;
  bool sound_ = true, impossible_ = false;
};

}  // namespace

Periodic solve_period(const Problem& p, std::int64_t period, const Deadline& deadline) {
  return Model(p, period).solve(deadline);
}

}  // namespace planscope::schedule
