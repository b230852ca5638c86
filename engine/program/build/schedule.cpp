// Slots: every segment at every index of its free axes is a task; tasks depend on those whose values they read, on order
// rows, and on a value's other readers where they end it. Where rows order tasks of different steps, each task is as many
// steps ahead as they demand at least; the rest is the order of one period. Unit-time list scheduling settles what is left open: ready tasks,
// backward before forward before gradients of parameters computed apart before what stands around them, smaller index,
// program order; copies from host memory as late as may be, and as urgent as what waits for them. Tasks of the passes that compute no gradient (masks, counts,
// what only moves values) take no time.
#include <algorithm>
#include <numeric>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/program/build/schedule.h"
#include "engine/program/build/tasks.h"
#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Scheduler {
 public:
  explicit Scheduler(Work& w) : w_(w), p_(w.p), tasks_(w.p) {}

  bool run() {
    members_ = make_classes(p_);
    link_data(p_, over_steps(), tasks_);
    if (!order_edges()) return false;
    if (!run_ahead()) return false;
    if (!list_schedule()) return false;
    for (std::size_t c = 0; c < p_.classes.size(); ++c) p_.classes[c].loops = folded(runs(sequences_[c]));
    warn_if_open();
    return true;
  }

 private:
  // --- order rows

  // Whether a row orders tasks of different steps.
  bool over_steps() const {
    return std::any_of(w_.d.order.begin(), w_.d.order.end(), [](const plan::OrderRow& row) {
      return std::any_of(row.chain.begin(), row.chain.end(), [](const plan::TaskFamily& f) { return f.step; });
    });
  }

  // Leaves the order of one period: what stands in an earlier one needs no order in this.
  bool run_ahead() {
    ahead_.assign(tasks_.list.size(), 0);
    if (tasks_.apart.empty()) return true;
    Ahead ahead = steps_ahead(tasks_.next, tasks_.apart);
    if (!ahead.conflict.empty()) {
      w_.diagnostics.push_back(conflict(std::move(ahead.conflict)));
      return false;
    }
    ahead_ = std::move(ahead.of);
    const auto earlier = [&](const Edge& e) {
      return ahead_[static_cast<std::size_t>(e.from)] > ahead_[static_cast<std::size_t>(e.to)] - e.steps;
    };
    for (std::vector<Edge>& list : tasks_.next)
      std::erase_if(list, [&](const Edge& e) {
        if (earlier(e)) --tasks_.waiting[static_cast<std::size_t>(e.to)];
        return earlier(e);
      });
    for (const Edge& e : tasks_.apart) {
      if (earlier(e)) continue;
      tasks_.next[static_cast<std::size_t>(e.from)].push_back(e);
      ++tasks_.waiting[static_cast<std::size_t>(e.to)];
    }
    return true;
  }

  bool order_edges() {
    if (w_.d.order.empty()) return true;
    Result<std::vector<plan::OrderPair>> pairs = plan::enumerate_order(w_.d);
    for (const Diagnostic& d : pairs.diagnostics) w_.diagnostics.push_back(d);
    if (!pairs.value || pairs.has_errors()) return false;
    using plan::Phase;
    std::map<std::tuple<int, Phase, Phase>, std::vector<SegmentId>> segments;  // unit, phase, of
    for (const SegmentWork& s : w_.segments) {
      const auto add = [&](Phase phase, Phase of, SegmentId id) {
        if (s.unit >= 0 && id >= 0) segments[{s.unit, phase, of}].push_back(id);
      };
      add(Phase::forward, Phase::forward, s.forward);
      add(Phase::backward, Phase::forward, s.backward);
      add(Phase::weight, Phase::forward, s.weight);
      add(Phase::fetch, Phase::forward, s.fetch_forward);
      add(Phase::fetch, Phase::backward, s.fetch_backward);
      add(Phase::load, Phase::backward, s.load);
      add(Phase::store, Phase::forward, s.store);
      add(Phase::replay, Phase::forward, s.replay);
    }
    for (const auto& [task, list] : w_.parameter_tasks) segments[task] = list;
    std::vector<AxisSet> axis(w_.d.axes.size());  // a free axis and its classes
    for (AxisId a = 0; a < static_cast<AxisId>(p_.axes.size()); ++a)
      for (std::size_t k = 0; k < axis.size(); ++k)
        if (const AxisId whole = w_.free_axis_ids[k];
            whole >= 0 && (a == whole || p_.axes[static_cast<std::size_t>(a)].of == whole))
          axis[k].push_back(a);
    std::map<std::pair<int, int>, std::pair<SegmentId, int>> unindexed;  // by row and unit: the work, and of which axis
    const auto tasks = [&](const plan::Task& t, int statement) {
      std::map<SegmentId, std::vector<int>> out;
      std::vector<std::int64_t> given(p_.axes.size(), -1);
      for (const auto& [a, i] : t.index)
        for (const AxisId id : axis[static_cast<std::size_t>(a)]) given[static_cast<std::size_t>(id)] = i;
      for (const int u : t.units)
        if (const auto it = segments.find({u, t.phase, t.of}); it != segments.end()) {
          int lacking = -1;  // an axis
          for (const SegmentId s : it->second)
            if (lacking = lacked_axis(s, t.index, axis); lacking < 0) break;
          if (lacking >= 0 && t.phase <= Phase::backward) unindexed.try_emplace({statement, u}, it->second[0], lacking);
          for (const SegmentId s : it->second)
            if (lacked_axis(s, t.index, axis) < 0) tasks_.for_tasks(s, given, [&](int task) { out[s].push_back(task); });
        }
      return out;
    };
    for (const plan::OrderPair& pair : *pairs) {
      look_at_stop();
      const auto after = tasks(pair.after, pair.statement);
      for (const auto& [s, before] : tasks(pair.before, pair.statement))
        for (const auto& [to, behind] : after)
          if (share_device(s, to)) put_in_order(before, behind, pair.statement, pair.after.step - pair.before.step);
    }
    tell_unindexed(unindexed);
    return !has_errors(w_.diagnostics);
  }

  // Each of these tasks of one segment before each of those of one, so many steps apart.
  void put_in_order(const std::vector<int>& before, const std::vector<int>& after, int statement, std::int64_t steps) {
    const Tasks::Task a = tasks_.list[static_cast<std::size_t>(before[0])], b = tasks_.list[static_cast<std::size_t>(after[0])];
    if (steps == 0 && a.segment != b.segment && follow(before) && follow(after)) {
      const auto from = static_cast<std::int64_t>(before.size()), to = static_cast<std::int64_t>(after.size());
      if (from > 1 && to > 1)
        tasks_.link_all(before, after, statement);
      else
        for (const int f : before)
          for (const int t : after) tasks_.link(f, t, statement);
      for (std::int64_t d = 1 - from; d < to; ++d) {
        const std::int64_t first = std::max<std::int64_t>(0, -d), end = std::min(from, to - d);
        note_order({statement, a.segment, b.segment, b.linear + d - a.linear, a.linear + first, end - first});
      }
      return;
    }
    for (const int f : before)
      for (const int t : after) {
        tasks_.link(f, t, statement, steps);
        const auto& x = tasks_.list[static_cast<std::size_t>(f)];
        const auto& y = tasks_.list[static_cast<std::size_t>(t)];
        if (steps == 0 && f != t) note_order({statement, x.segment, y.segment, y.linear - x.linear, x.linear, 1});
      }
  }

  // Whether these are neighbours, one behind the other.
  static bool follow(const std::vector<int>& tasks) {
    return tasks.back() - tasks.front() + 1 == static_cast<int>(tasks.size());
  }

  // Pairs of one row come by rising index, so most continue what was noted.
  void note_order(const OrderedRuns& more) {
    const auto [known, fresh] =
        noted_.try_emplace({more.statement, more.before, more.after, more.distance}, w_.ordered.size());
    if (!fresh) {
      OrderedRuns& runs = w_.ordered[known->second];
      const std::int64_t end = runs.first + runs.count;
      if (more.first >= runs.first && more.first + more.count <= end) return;
      if (more.first == end) {
        runs.count += more.count;
        return;
      }
      known->second = w_.ordered.size();
    }
    w_.ordered.push_back(more);
  }

  // A row that names an index speaks of tasks that have that index; where there is one index alone, of all. The axis of an
  // index that a segment has not; -1: there is none.
  int lacked_axis(SegmentId s, const std::vector<std::pair<int, std::int64_t>>& index,
                  const std::vector<AxisSet>& axis) const {
    const auto& axes = p_.segments[static_cast<std::size_t>(s)].free_axes;
    for (const auto& [a, i] : index) {
      if (w_.d.axes[static_cast<std::size_t>(a)].size == 1) continue;
      const AxisSet& ids = axis[static_cast<std::size_t>(a)];
      if (std::none_of(axes.begin(), axes.end(),
                       [&](AxisId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }))
        return a;
    }
    return -1;
  }

  bool share_device(SegmentId a, SegmentId b) const {
    const auto& x = members_[static_cast<std::size_t>(a)];
    const auto& y = members_[static_cast<std::size_t>(b)];
    return std::any_of(x.begin(), x.end(), [&](int c) { return std::binary_search(y.begin(), y.end(), c); });
  }

  // A row that names an index of work that has none orders nothing: it needs all indices at once, or nothing splits it.
  void tell_unindexed(const std::map<std::pair<int, int>, std::pair<SegmentId, int>>& rows) {
    std::set<int> told;
    for (const auto& [row, found] : rows) {
      const auto [statement, unit] = row;
      const auto [segment, axis] = found;
      const std::optional<Barrier> b = barrier_of(w_, unit, axis);
      if (!told.insert(statement).second) continue;
      const std::string what = p_.segments[static_cast<std::size_t>(segment)].name + " has no index of " +
                               w_.d.axes[static_cast<std::size_t>(axis)].name;
      Diagnostic d = b ? error("no order possible: " + what, b->text)
                       : warning(what + "; the row orders nothing of it", "no line splits it over this axis");
      d.file = w_.d.plan.file;
      d.subject = w_.statement_text(statement);
      d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
      if (b && b->line > 0 && b->line != d.line) d.lines = {std::min(d.line, b->line), std::max(d.line, b->line)};
      w_.diagnostics.push_back(std::move(d));
    }
  }

  // --- list scheduling in unit time

  Phase phase(int task) const {
    return p_.segments[static_cast<std::size_t>(tasks_.segment_of(task))].phase;
  }

  int rank(int task) const {
    const Phase p = phase(task);
    int out = p == Phase::backward ? 0 : p == Phase::weight ? 2 : p == Phase::forward ? 1 : 3;
    if (p == Phase::load)  // as urgent as what waits for it
      for (const Edge& e : tasks_.next[static_cast<std::size_t>(task)])
        if (phase(e.to) != Phase::load || tasks_.is_joint(e.to)) out = std::min(out, rank(e.to));
    return out;
  }

  const std::vector<int>& members(int task) const {
    return members_[static_cast<std::size_t>(tasks_.segment_of(task))];
  }

  bool takes_time(int task) const {
    const Segment& s = p_.segments[static_cast<std::size_t>(tasks_.segment_of(task))];
    if (s.phase != Phase::forward && s.phase != Phase::backward) return true;
    return std::any_of(s.instructions.begin(), s.instructions.end(), [&](const Instruction& i) {
      return i.piece >= 0 && p_.pieces[static_cast<std::size_t>(i.piece)].gradient;
    });
  }

  bool list_schedule() {
    const std::size_t all = tasks_.list.size();
    std::vector<int> order(all), urgency(all);  // tasks, the most urgent first; and the inverse
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(rank(a), outer_index(a)) < std::pair(rank(b), outer_index(b));
    });
    for (std::size_t i = 0; i < order.size(); ++i) urgency[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    Loads loads(*this);
    std::set<int> ready, at_once;                       // by urgency
    std::vector<int> ready_for(p_.classes.size(), 0);  // tasks, by class
    std::size_t supplied = 0;                          // classes with ready tasks
    const auto add_ready = [&](int t, int count) {
      for (const int c : members(t)) {
        int& n = ready_for[static_cast<std::size_t>(c)];
        const bool had = n > 0;
        n += count;
        supplied = supplied - (had ? 1 : 0) + (n > 0 ? 1 : 0);
      }
    };
    const auto open = [&](int t) {
      if (tasks_.waiting[static_cast<std::size_t>(t)] > 0 || !loads.wanted(t) || tasks_.is_joint(t)) return;
      const bool timed = takes_time(t);
      const bool fresh = (timed ? ready : at_once).insert(urgency[static_cast<std::size_t>(t)]).second;
      if (timed && fresh) add_ready(t, 1);
    };
    std::size_t done = 0;
    const auto finish = [&](int task) {
      for (std::vector<int> finished{task}; !finished.empty();) {
        const int t = finished.back();
        finished.pop_back();
        ++done;
        for (const Edge& e : tasks_.next[static_cast<std::size_t>(t)]) {
          const int left = --tasks_.waiting[static_cast<std::size_t>(e.to)];
          for (const int load : loads.arrive(e)) open(load);
          if (tasks_.is_joint(e.to) && left == 0) finished.push_back(e.to);
          open(e.to);
        }
      }
    };
    std::vector<int> at_start;  // joints without a predecessor in this period: all tasks that they join run in earlier periods
    for (int t = 0; t < static_cast<int>(tasks_.list.size()); ++t)
      if (tasks_.is_joint(t) && tasks_.waiting[static_cast<std::size_t>(t)] == 0) at_start.push_back(t);
    for (const int t : at_start) finish(t);
    for (int t = 0; t < static_cast<int>(tasks_.list.size()); ++t) open(t);
    sequences_.resize(p_.classes.size());
    std::vector<int> busy(p_.classes.size(), -1);
    for (int time = 0; !ready.empty() || !at_once.empty(); ++time) {
      while (!at_once.empty()) {
        const int t = order[static_cast<std::size_t>(*at_once.begin())];
        at_once.erase(at_once.begin());
        for (const int c : members(t)) sequences_[static_cast<std::size_t>(c)].push_back(t);
        finish(t);
      }
      look_at_stop();
      std::vector<int> started;
      std::size_t taken = 0;  // classes that are busy now
      for (const int u : ready) {
        const int t = order[static_cast<std::size_t>(u)];
        if (std::any_of(members(t).begin(), members(t).end(),
                        [&](int c) { return busy[static_cast<std::size_t>(c)] == time; }))
          continue;
        for (const int c : members(t)) {
          busy[static_cast<std::size_t>(c)] = time;
          ++taken;
          sequences_[static_cast<std::size_t>(c)].push_back(t);
        }
        started.push_back(t);
        if (taken == supplied) break;
      }
      for (const int t : started) {
        ready.erase(urgency[static_cast<std::size_t>(t)]);
        add_ready(t, -1);
      }
      for (const int t : started) finish(t);
    }
    if (done == tasks_.list.size()) return true;
    drop(loads.unwanted());
    std::vector<int> line;  // by statement
    for (const plan::Statement& s : w_.d.plan.statements) line.push_back(s.line);
    w_.diagnostics.push_back(conflict(least_cycle(tasks_.next, tasks_.waiting, line)));
    return false;
  }

  // As if these tasks and all that wait for them alone had run: what still waits is on a cycle, or behind one.
  void drop(std::vector<int> tasks) {
    while (!tasks.empty()) {
      const int t = tasks.back();
      tasks.pop_back();
      if (tasks_.waiting[static_cast<std::size_t>(t)] > 0) continue;
      for (const Edge& e : tasks_.next[static_cast<std::size_t>(t)])
        if (--tasks_.waiting[static_cast<std::size_t>(e.to)] == 0) tasks.push_back(e.to);
    }
  }

  // Copies from host memory run as late as rows allow: when a task waits for nothing else.
  class Loads {
   public:
    explicit Loads(const Scheduler& s) : s_(s), wanted_(s.tasks_.list.size(), true) {
      for (std::size_t t = 0; t < wanted_.size(); ++t) any_ = any_ || is_load(static_cast<int>(t));
      if (!any_) return;
      waits_.assign(wanted_.size(), 0);
      of_.resize(wanted_.size());
      for (std::size_t t = 0; t < wanted_.size(); ++t) {
        const bool load = is_load(static_cast<int>(t));
        if (load) wanted_[t] = false;
        for (const Edge& e : s.tasks_.next[t]) {
          if (load)
            of_[static_cast<std::size_t>(e.to)].push_back(e.from);
          else
            ++waits_[static_cast<std::size_t>(e.to)];
        }
      }
      std::vector<int> now;
      for (std::size_t t = 0; t < wanted_.size(); ++t)
        if (!is_load(static_cast<int>(t)) && waits_[t] == 0) want_loads_of(static_cast<int>(t), now);
    }
    bool wanted(int task) const { return wanted_[static_cast<std::size_t>(task)]; }
    std::vector<int> unwanted() const {
      std::vector<int> out;
      for (std::size_t t = 0; t < wanted_.size(); ++t)
        if (!wanted_[t]) out.push_back(static_cast<int>(t));
      return out;
    }
    // The edge's first task is done: loads that are wanted now.
    std::vector<int> arrive(const Edge& e) {
      std::vector<int> now;
      if (any_ && !is_load(e.from) && --waits_[static_cast<std::size_t>(e.to)] == 0 && !is_load(e.to))
        want_loads_of(e.to, now);
      return now;
    }

   private:
    bool is_load(int t) const { return s_.phase(t) == Phase::load; }
    void want_loads_of(int task, std::vector<int>& now) {
      for (const int load : of_[static_cast<std::size_t>(task)]) {
        if (wanted_[static_cast<std::size_t>(load)]) continue;
        wanted_[static_cast<std::size_t>(load)] = true;
        now.push_back(load);
        want_loads_of(load, now);
      }
    }

    const Scheduler& s_;
    bool any_ = false;
    std::vector<bool> wanted_;
    std::vector<int> waits_;            // per task: tasks other than loads that it waits for
    std::vector<std::vector<int>> of_;  // per task: loads that it waits for
  };

  // The index along the outermost free axis; tasks without one come where program order puts them.
  std::int64_t outer_index(int task) const {
    const auto& axes = p_.segments[static_cast<std::size_t>(tasks_.segment_of(task))].free_axes;
    return axes.empty() ? 0 : tasks_.index_of(task)[0];
  }

  std::string task_name(int task, std::int64_t step) const {
    std::string out = p_.segments[static_cast<std::size_t>(tasks_.segment_of(task))].name;
    if (!tasks_.apart.empty()) out += "[step=t" + (step == 0 ? "" : (step > 0 ? "+" : "") + std::to_string(step)) + "]";
    for (const std::int64_t i : tasks_.index_of(task)) out += "[" + std::to_string(i) + "]";
    return out;
  }

  // An edge to a joint and the one behind it are one; the ends of a chain are tasks.
  std::vector<Edge> without_joints(std::vector<Edge> edges) const {
    if (tasks_.is_joint(edges.front().from) && edges.front().from == edges.back().to)
      std::rotate(edges.begin(), edges.begin() + 1, edges.end());
    std::vector<Edge> out;
    for (const Edge& e : edges) {
      if (!tasks_.is_joint(e.from))
        out.push_back(e);
      else if (!out.empty())
        out.back().to = e.to;
    }
    if (!out.empty() && tasks_.is_joint(out.back().to)) out.pop_back();
    return out;
  }

  // Tasks of different segments can have the same name: a text that is in the list already is not repeated.
  static void add_new(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
  }

  // These edges, each beginning where the one before ends, cannot all be kept. Told from the first row on.
  Diagnostic conflict(std::vector<Edge> edges) const {
    edges = without_joints(std::move(edges));
    const auto row = [](const Edge& e) { return static_cast<unsigned>(e.statement); };  // none: the largest
    if (edges.front().from == edges.back().to)
      std::rotate(
          edges.begin(),
          std::min_element(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) { return row(a) < row(b); }),
          edges.end());
    std::vector<std::string> rows, data;
    std::set<int> lines;
    std::int64_t step = 0;
    bool old = false;
    for (const Edge& e : edges) {
      old = old || (e.statement < 0 && e.steps > 0);
      const std::string from = task_name(e.from, step), to = task_name(e.to, step + e.steps);
      step += e.steps;
      if (e.statement < 0) {
        if (from != to) add_new(data, from + " → " + to);
        continue;
      }
      const int line = w_.d.plan.statements[static_cast<std::size_t>(e.statement)].line;
      add_new(rows, from + " before " + to + " (line " + std::to_string(line) + ")");
      lines.insert(line);
    }
    if (!data.empty()) data.front().insert(0, "data ");
    rows.insert(rows.end(), data.begin(), data.end());
    std::string relax;
    for (const int l : lines) relax += (relax.empty() ? " Relax line " : " or ") + std::to_string(l);
    Diagnostic d = error("no order possible: " + join(rows, ", ") + "." + relax);
    if (old) d.hint = "or let parameters be older where they are read: relax fetch(…) lag …";
    d.file = w_.d.plan.file;
    if (!lines.empty()) d.line = *lines.begin();
    for (const Edge& e : edges)
      if (const auto b = e.statement < 0 && d.why.empty()
                             ? barrier(w_, tasks_.segment_of(e.from), tasks_.segment_of(e.to))
                             : std::nullopt) {
        d.why = b->text;
        if (b->line > 0) lines.insert(b->line);
        if (d.line == 0) d.line = b->line;
      }
    if (!relax.empty() && d.why.empty() && d.hint.empty()) d.what += ".";
    d.lines.assign(lines.begin(), lines.end());
    return d;
  }

  std::vector<SlotRun> runs(const std::vector<int>& sequence) const {
    std::vector<SlotRun> out;
    for (const int t : sequence) {
      const auto index = tasks_.index_of(t);
      out.push_back({tasks_.segment_of(t),
                     {index.begin(), index.end()},
                     ahead_[static_cast<std::size_t>(t)]});
    }
    return out;
  }

  void warn_if_open() {
    if (!w_.d.order.empty() || p_.classes.size() < 2) return;
    const auto& statements = w_.d.plan.statements;
    if (std::any_of(statements.begin(), statements.end(), [](const plan::Statement& s) { return s.from == "ready"; })) return;
    // Where stages are placed by index (Chimera), no row of ours fits: what is ready first is the schedule that is meant.
    if (std::any_of(p_.axes.begin(), p_.axes.end(), [](const Axis& a) { return a.of >= 0; })) return;
    std::set<PlaceId> staged;
    for (const SegmentWork& s : w_.segments)
      if (!s.set.empty() && !p_.places[static_cast<std::size_t>(s.place)].fixed.empty()) staged.insert(s.place);
    if (staged.size() < 2) return;
    Diagnostic d = warning("no order row says in which order the stages run their micro-batches",
                           "list scheduling decides: backward before forward, smaller index first",
                           "write 'use 1f1b(S)' or 'use gpipe(S)', or 'use ready()' if that is meant");
    d.file = w_.d.plan.file;
    w_.diagnostics.push_back(d);
  }

  Work& w_;
  Program& p_;
  std::vector<std::vector<int>> members_;  // classes of each segment
  Tasks tasks_;
  std::vector<std::int64_t> ahead_;  // by task
  std::map<std::tuple<int, SegmentId, SegmentId, std::int64_t>, std::size_t> noted_;  // into w_.ordered
  std::vector<std::vector<int>> sequences_;
};

}  // namespace

bool make_schedule(Work& w) { return Scheduler(w).run(); }

}  // namespace planscope::build
