// Segments: instances of one level, one set of free axes, one place and one unit; a place that is left and entered again
// (an embedding on all devices, before and after the stages) has one for each visit. Levels separate loops: an instance that
// reads what a loop over a free axis has combined, or that leaves a set of free axes, stands in a later level. Everything
// is as late as its readers allow, so that what a loop must finish first (`count`) stands ahead of it alone.
#include <algorithm>
#include <queue>
#include <set>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Levels {
 public:
  explicit Levels(Work& w) : w_(w) {}

  void run() {
    order_ = program_order();
    std::vector<int> earliest(w_.instances.size(), 0);
    int depth = 0;
    for (const InstanceId i : order_) {
      for (const VarId v : inputs(i))
        if (const InstanceId p = producer(v); p >= 0)
          earliest[static_cast<std::size_t>(i)] =
              std::max(earliest[static_cast<std::size_t>(i)], earliest[static_cast<std::size_t>(p)] + step(p, i));
      depth = std::max(depth, earliest[static_cast<std::size_t>(i)]);
    }
    for (Instance& i : w_.instances) i.level = depth;
    for (auto it = order_.rbegin(); it != order_.rend(); ++it)
      for (const VarId v : inputs(*it))
        if (const InstanceId p = producer(v); p >= 0) {
          int& level = w_.instances[static_cast<std::size_t>(p)].level;
          level = std::min(level, w_.instances[static_cast<std::size_t>(*it)].level - step(p, *it));
        }
    leave_units();
  }

  const std::vector<InstanceId>& order() const { return order_; }

  std::vector<VarId> inputs(InstanceId i) const {
    const Instance& x = w_.instances[static_cast<std::size_t>(i)];
    if (x.kind == InstanceKind::receive) return {w_.vars[static_cast<std::size_t>(x.var)].from};
    std::vector<VarId> out = x.inputs;
    for (const auto& [key, layout] : x.keys) out.push_back(key);
    if (x.kind == InstanceKind::combine)
      for (const CombinedPart& part : w_.vars[static_cast<std::size_t>(x.var)].parts) out.push_back(part.from);
    return out;
  }
  InstanceId producer(VarId v) const { return w_.vars[static_cast<std::size_t>(v)].producer; }

 private:
  // What labels alone decide and must be finished for all indices that tasks of order rows have, before the model's own pass
  // goes on (`count`), is none of these tasks. Loops over other axes (coshard) run inside one, and what they give is put
  // together there.
  void leave_units() {
    const AxisSet counted = axes_of_tasks();
    for (const InstanceId i : order_) {
      Instance& x = w_.instances[static_cast<std::size_t>(i)];
      if (x.kind != InstanceKind::combine || combines(x, counted)) continue;
      const InstanceId writer = producer(w_.vars[static_cast<std::size_t>(x.var)].parts[0].from);
      if (writer >= 0) x.unit = w_.instances[static_cast<std::size_t>(writer)].unit;
    }
    std::vector<bool> ahead(w_.instances.size(), false);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Instance& x = w_.instances[static_cast<std::size_t>(*it)];
      bool mark = ahead[static_cast<std::size_t>(*it)];
      if (x.kind == InstanceKind::combine && combines(x, counted))
        for (const Read& r : w_.vars[static_cast<std::size_t>(x.var)].reads)
          mark = mark || w_.instances[static_cast<std::size_t>(r.instance)].kind == InstanceKind::op;
      if (!mark) continue;
      if (x.kind == InstanceKind::op && w_.reached(x.op)) continue;  // a task that rows speak of, and so is what it reads
      for (const VarId v : inputs(*it))
        if (const InstanceId p = producer(v); p >= 0) ahead[static_cast<std::size_t>(p)] = true;
    }
    for (std::size_t i = 0; i < ahead.size(); ++i)
      if (ahead[i] && !reached(static_cast<InstanceId>(i))) w_.instances[i].unit = -1;
  }

  // Whether a parameter is behind what an instance computes or brings.
  bool reached(InstanceId id) const {
    const Instance& x = w_.instances[static_cast<std::size_t>(id)];
    if (x.kind == InstanceKind::op) return w_.reached(x.op);
    const OpId writer = w_.g.tensors[static_cast<std::size_t>(w_.vars[static_cast<std::size_t>(x.var)].tensor)].producer;
    return writer >= 0 && w_.reached(writer);
  }

  // The free axes by whose indices rows tell tasks apart: the first one, and those that are named.
  AxisSet axes_of_tasks() const {
    std::set<int> axes;
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()) && axes.empty(); ++a)
      if (w_.d.axes[static_cast<std::size_t>(a)].free) axes.insert(a);
    for (const plan::OrderRow& row : w_.d.order)
      for (const plan::TaskFamily& task : row.chain)
        for (const auto& i : task.index) axes.insert(i.axis);
    AxisSet out;
    for (const int a : axes) out.push_back(w_.free_axis_ids[static_cast<std::size_t>(a)]);
    for (const DividedAxis& d : w_.divided)
      if (axes.contains(d.axis)) out.insert(out.end(), d.classes.begin(), d.classes.end());
    std::sort(out.begin(), out.end());
    return out;
  }

  // Whether an instance puts together what was made for different indices of one of these axes.
  bool combines(const Instance& x, const AxisSet& axes) const {
    const Var& v = w_.vars[static_cast<std::size_t>(x.var)];
    return std::any_of(v.parts.begin(), v.parts.end(), [&](const CombinedPart& part) {
      const AxisSet& from = w_.vars[static_cast<std::size_t>(part.from)].set;
      return std::any_of(from.begin(), from.end(), [&](AxisId a) {
        return !std::binary_search(v.set.begin(), v.set.end(), a) && std::binary_search(axes.begin(), axes.end(), a);
      });
    });
  }

  int step(InstanceId from, InstanceId to) const {
    const Instance& a = w_.instances[static_cast<std::size_t>(from)];
    const Instance& b = w_.instances[static_cast<std::size_t>(to)];
    if (b.kind == InstanceKind::combine) return 1;
    if (a.set == b.set) return 0;
    return std::make_pair(a.set.size(), a.set) < std::make_pair(b.set.size(), b.set) ? 0 : 1;
  }

  // Topological, by operator: an instance after all that it reads.
  std::vector<InstanceId> program_order() const {
    const std::size_t n = w_.instances.size();
    std::vector<int> waiting(n, 0);
    std::vector<std::vector<InstanceId>> next(n);
    for (std::size_t i = 0; i < n; ++i)
      for (const VarId v : inputs(static_cast<InstanceId>(i)))
        if (const InstanceId p = producer(v); p >= 0) {
          next[static_cast<std::size_t>(p)].push_back(static_cast<InstanceId>(i));
          ++waiting[i];
        }
    using Entry = std::pair<OpId, InstanceId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::size_t i = 0; i < n; ++i)
      if (waiting[i] == 0) ready.push({w_.instances[i].op, static_cast<InstanceId>(i)});
    std::vector<InstanceId> out;
    while (!ready.empty()) {
      const InstanceId i = ready.top().second;
      ready.pop();
      out.push_back(i);
      for (const InstanceId k : next[static_cast<std::size_t>(i)])
        if (--waiting[static_cast<std::size_t>(k)] == 0) ready.push({w_.instances[static_cast<std::size_t>(k)].op, k});
    }
    return out;
  }

  Work& w_;
  std::vector<InstanceId> order_;
};

// Which segments must run before which, by what has been read so far.
class Reachability {
 public:
  int add() {
    const int id = static_cast<int>(to_.size());
    to_.emplace_back();
    for (auto& row : to_) row.resize(static_cast<std::size_t>(id) + 1, false);
    return id;
  }
  // Whether there is a path from one segment to another one.
  bool reaches(int from, int to) const { return to_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]; }
  void connect(int from, int to) {
    if (from == to || reaches(from, to)) return;
    for (int x = 0; x < static_cast<int>(to_.size()); ++x) {
      if (x != from && !reaches(x, from)) continue;
      auto& row = to_[static_cast<std::size_t>(x)];
      row[static_cast<std::size_t>(to)] = true;
      for (std::size_t y = 0; y < row.size(); ++y)
        if (to_[static_cast<std::size_t>(to)][y]) row[y] = true;
    }
  }

 private:
  std::vector<std::vector<bool>> to_;
};

// Segments in an order in which each comes after those that it reads.
void sort_segments(Work& w, const Levels& levels, std::vector<SegmentWork>& segments) {
  const std::size_t n = segments.size();
  std::vector<std::set<int>> next(n);
  std::vector<int> waiting(n, 0);
  for (std::size_t i = 0; i < w.instances.size(); ++i)
    for (const VarId v : levels.inputs(static_cast<InstanceId>(i)))
      if (const InstanceId p = levels.producer(v); p >= 0) {
        const int a = w.instances[static_cast<std::size_t>(p)].segment, b = w.instances[i].segment;
        if (a != b && next[static_cast<std::size_t>(a)].insert(b).second) ++waiting[static_cast<std::size_t>(b)];
      }
  std::set<int> ready;
  std::vector<int> order;
  for (std::size_t s = 0; s < n; ++s)
    if (waiting[s] == 0) ready.insert(static_cast<int>(s));
  while (!ready.empty()) {
    const int s = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(s);
    for (const int k : next[static_cast<std::size_t>(s)])
      if (--waiting[static_cast<std::size_t>(k)] == 0) ready.insert(k);
  }
  std::vector<SegmentWork> sorted;
  for (const int s : order) {
    for (const InstanceId i : segments[static_cast<std::size_t>(s)].instances)
      w.instances[static_cast<std::size_t>(i)].segment = static_cast<int>(sorted.size());
    sorted.push_back(std::move(segments[static_cast<std::size_t>(s)]));
  }
  segments = std::move(sorted);
}

// Receives stand first, in the order in which their values are written: the order of the sends of every pair of places.
void receives_first(Work& w) {
  std::vector<std::pair<int, int>> written(w.instances.size());
  for (std::size_t s = 0; s < w.segments.size(); ++s)
    for (std::size_t k = 0; k < w.segments[s].instances.size(); ++k)
      written[static_cast<std::size_t>(w.segments[s].instances[k])] = {static_cast<int>(s), static_cast<int>(k)};
  const auto source = [&](InstanceId i) {
    const Var& v = w.vars[static_cast<std::size_t>(w.instances[static_cast<std::size_t>(i)].var)];
    return written[static_cast<std::size_t>(w.vars[static_cast<std::size_t>(v.from)].producer)];
  };
  for (SegmentWork& s : w.segments) {
    const auto is_receive = [&](InstanceId i) {
      return w.instances[static_cast<std::size_t>(i)].kind == InstanceKind::receive;
    };
    const auto end = std::stable_partition(s.instances.begin(), s.instances.end(), is_receive);
    std::stable_sort(s.instances.begin(), end, [&](InstanceId a, InstanceId b) { return source(a) < source(b); });
  }
}

}  // namespace

bool make_segments(Work& w) {
  Levels levels(w);
  levels.run();
  using Key = std::tuple<int, std::size_t, AxisSet, PlaceId, int>;
  std::map<Key, int> ids;  // the last segment of each
  Reachability before;
  for (const InstanceId i : levels.order()) {
    Instance& x = w.instances[static_cast<std::size_t>(i)];
    std::vector<int> read;
    for (const VarId v : levels.inputs(i))
      if (const InstanceId p = levels.producer(v); p >= 0)
        read.push_back(w.instances[static_cast<std::size_t>(p)].segment);
    int& id = ids.try_emplace({x.level, x.set.size(), x.set, x.place, x.unit}, -1).first->second;
    const bool left = id >= 0 && std::any_of(read.begin(), read.end(), [&](int r) { return before.reaches(id, r); });
    if (id < 0 || left) {
      id = before.add();
      SegmentWork s;
      s.level = x.level;
      s.set = x.set;
      s.place = x.place;
      s.unit = x.unit;
      w.segments.push_back(s);
    }
    for (const int r : read) before.connect(r, id);
    x.segment = id;
    w.segments[static_cast<std::size_t>(id)].instances.push_back(i);
  }
  sort_segments(w, levels, w.segments);
  receives_first(w);
  return true;
}

}  // namespace planscope::build
