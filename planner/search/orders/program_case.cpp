#include "planner/search/orders/program_case.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "planner/cost/communication_cost.h"
#include "planner/cost/device_kinds.h"

namespace planscope::orders {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Builder {
 public:
  Builder(const Materialized& m, const Simulation& s, const Cluster& cluster)
      : m_(m), graph_(*m.graph), decisions_(m.decisions), program_(m.program), simulation_(s), cluster_(cluster) {}

  Result<ProgramCase> build() {
    if (std::optional<Diagnostic> d = find_axis()) return *d;
    find_operators();
    add_blocks();
    if (out_.problem.blocks.size() < 2) return error("nothing runs for several micro-batches");
    add_precedences();
    add_rows(m_.ordered);
    add_memory();
    for (SegmentId s : segments_) out_.tasks.push_back(task_of(s));
    out_.segments = segments_;
    return std::move(out_);
  }

 private:
  const Segment& segment(SegmentId s) const { return program_.segments[at(s)]; }

  std::optional<Diagnostic> find_axis() {
    for (const Segment& s : program_.segments) {
      if (s.free_axes.size() > 1) return error("tasks with several free axes are not searched");
      if (s.free_axes.empty()) continue;
      if (axis_ >= 0 && s.free_axes[0] != axis_) return error("tasks of different free axes are not searched");
      axis_ = s.free_axes[0];
    }
    for (const ClassTimeline& t : simulation_.classes)
      for (const SlotBlock& b : t.slots)
        if (b.ahead != 0) return error("steps that overlap are not searched");
    if (axis_ < 0) return error("there is no axis of micro-batches");
    out_.axis = program_.axes[at(axis_)].name;
    return std::nullopt;
  }

  // Operators of each segment, by its pieces.
  void find_operators() {
    operators_.resize(program_.segments.size());
    for (std::size_t s = 0; s < program_.segments.size(); ++s)
      for (const Instruction& i : program_.segments[s].instructions)
        if (i.piece >= 0)
          for (const PieceOp& op : program_.pieces[at(i.piece)].ops) operators_[s].insert(op.op);
  }

  void add_blocks() {
    schedule::Case& c = out_.problem;
    c.devices = static_cast<int>(program_.classes.size());
    c.memory.assign(at(c.devices), std::nullopt);
    c.micro_batches = {static_cast<int>(program_.axes[at(axis_)].size)};
    block_of_.assign(program_.segments.size(), -1);
    for (SegmentId s = 0; s < static_cast<SegmentId>(program_.segments.size()); ++s) {
      if (segment(s).free_axes.empty()) continue;
      schedule::Block b;
      b.name = segment(s).name;
      for (int k = 0; k < c.devices; ++k)
        if (runs(k, s)) b.devices.push_back(k);
      if (b.devices.empty()) continue;
      b.time = simulation_.segment_ns[at(s)];
      block_of_[at(s)] = static_cast<int>(c.blocks.size());
      segments_.push_back(s);
      c.blocks.push_back(std::move(b));
    }
  }

  bool runs(int device_class, SegmentId s) const {
    const std::vector<SlotBlock>& slots = simulation_.classes[at(device_class)].slots;
    return std::any_of(slots.begin(), slots.end(), [&](const SlotBlock& b) { return b.segment == s; });
  }

  void add_precedences() {
    std::map<ProgramValueId, int> made;  // by whom, within a micro-batch
    std::map<PieceId, int> kept;
    std::map<int, int> sent;  // transfers
    for (SegmentId s : segments_)
      for (const Instruction& i : segment(s).instructions) {
        if (i.code == Code::send) sent[i.transfer] = block_of_[at(s)];
        if (i.code == Code::compute && i.keep) kept[i.piece] = block_of_[at(s)];
        if (i.code != Code::free && i.code != Code::accumulate && i.code != Code::wait)
          for (ProgramValueId v : i.out)
            if (v >= 0) made.emplace(v, block_of_[at(s)]);
      }
    std::map<std::pair<int, int>, std::int64_t> after;  // the longest delay
    const auto add = [&](int before, int block, std::int64_t delay) {
      if (before < 0 || before == block) return;
      std::int64_t& longest = after.emplace(std::pair{before, block}, 0).first->second;
      longest = std::max(longest, delay);
    };
    for (SegmentId s : segments_) {
      const int block = block_of_[at(s)];
      for (const Instruction& i : segment(s).instructions) {
        if (i.code == Code::receive && sent.contains(i.transfer)) add(sent[i.transfer], block, transfer_ns(i.transfer));
        if ((i.code == Code::backward || i.code == Code::replay) && kept.contains(i.piece))
          add(kept[i.piece], block, 0);
        if (i.code == Code::free) continue;
        for (ProgramValueId v : i.in)
          if (v >= 0 && made.contains(v)) add(made[v], block, 0);
      }
    }
    for (const auto& [pair, delay] : after) out_.problem.after.push_back({pair.first, pair.second, delay, 0});
  }

  // What the user's rows put in order. Lines of the planner's are what is looked for; those of constraint files stand in the
  // plan as its lines too, but have no number there.
  void add_rows(const std::vector<OrderedRuns>& ordered) {
    schedule::Case& c = out_.problem;
    std::map<int, int> row_of;  // by line
    for (const OrderedRuns& o : ordered) {
      const plan::Statement& s = decisions_.plan.statements[at(o.statement)];
      const int before = block_of_[at(o.before)], after = block_of_[at(o.after)];
      if ((s.automatic && s.line > 0) || before < 0 || after < 0) continue;
      const auto [row, fresh] = row_of.try_emplace(s.line, static_cast<int>(c.rows.size()));
      if (fresh) c.rows.push_back(s.line > 0 ? "line " + std::to_string(s.line) : "a constraint file");
      c.order.push_back({before, after, static_cast<int>(o.distance), static_cast<int>(o.first),
                         static_cast<int>(o.count), row->second});
    }
  }

  std::int64_t transfer_ns(int transfer) const {
    return static_cast<std::int64_t>(
        1000 * transfer_cost(graph_, program_, cluster_, program_.transfers[at(transfer)]).figure.time.count);
  }

  // What a forward keeps, its backward gives back: the most that memory grows while it runs. Room is what is left of the
  // device beside what a class holds when no micro-batch is under way, and what it needs at work.
  void add_memory() {
    schedule::Case& c = out_.problem;
    for (int k = 0; k < c.devices; ++k) {
      const ClassTimeline& t = simulation_.classes[at(k)];
      std::map<int, std::int64_t> kept;  // by forward block
      for (const SlotBlock& slot : t.slots) {
        look_at_stop();
        const int block = block_of_[at(slot.segment)];
        if (block < 0 || segment(slot.segment).phase != Phase::forward) continue;
        kept[block] = std::max(kept[block], before(t, slot.end + 1) - before(t, slot.start));
      }
      std::int64_t standing = 0, at_work = 0, held = 0;  // standing: behind the last backward, gradients are all there
      for (const auto& [block, bytes] : kept) held += std::max<std::int64_t>(0, bytes);
      for (const SlotBlock& slot : t.slots) {
        look_at_stop();
        const int block = block_of_[at(slot.segment)];
        if (block < 0) continue;
        if (segment(slot.segment).phase != Phase::forward) standing = before(t, slot.end + 1);
        const std::int64_t own = kept.contains(block) ? std::max<std::int64_t>(0, kept.at(block)) : 0;
        at_work = std::max(at_work, peak(t, slot.start, slot.end) - before(t, slot.start) - own);
      }
      const Bytes memory = cluster_.least_memory(kinds_of(cluster_, program_, program_.classes[at(k)]));
      const std::int64_t room = memory.count - standing - at_work;
      if (held == 0 || held * c.micro_batches[0] <= room) continue;  // all of them fit
      give_memory(k, kept, room);
    }
  }

  // In units of a sixteenth of the largest, rounded up: sums stay small.
  void give_memory(int device_class, const std::map<int, std::int64_t>& kept, std::int64_t room) {
    std::map<int, int> givers;
    std::int64_t largest = 1;
    for (const auto& [block, bytes] : kept) {
      const schedule::Block& taker = out_.problem.blocks[at(block)];
      const int giver = backward_of(block);
      if (bytes <= 0 || giver < 0 || taker.devices.size() != 1 || taker.devices[0] != device_class) continue;
      givers[block] = giver;
      largest = std::max(largest, bytes);
    }
    const std::int64_t unit = std::max<std::int64_t>(1, largest / 16);
    for (const auto& [block, giver] : givers) {
      const std::int64_t bytes = kept.at(block);
      schedule::Block& taker = out_.problem.blocks[at(block)];
      taker.memory = (bytes + unit - 1) / unit;
      out_.problem.blocks[at(giver)].memory -= taker.memory;
    }
    out_.problem.memory[at(device_class)] = std::max<std::int64_t>(0, room / unit);
  }

  // The last segment of the same class that runs the backward of one of its pieces.
  int backward_of(int block) const {
    std::set<PieceId> pieces;
    for (const Instruction& i : segment(segments_[at(block)]).instructions)
      if (i.code == Code::compute && i.keep) pieces.insert(i.piece);
    int out = -1;
    for (SegmentId s : segments_)
      for (const Instruction& i : segment(s).instructions)
        if (i.code == Code::backward && pieces.contains(i.piece)) out = block_of_[at(s)];
    const auto& devices = out_.problem.blocks;
    return out >= 0 && devices[at(out)].devices == devices[at(block)].devices ? out : -1;
  }

  static std::int64_t before(const ClassTimeline& t, Nanoseconds moment) {
    const auto p = std::lower_bound(t.memory.begin(), t.memory.end(), moment,
                                    [](const MemoryPoint& m, Nanoseconds x) { return m.time < x; });
    return p == t.memory.begin() ? 0 : std::prev(p)->bytes;
  }
  static std::int64_t peak(const ClassTimeline& t, Nanoseconds from, Nanoseconds to) {
    std::int64_t out = before(t, from);
    for (const MemoryPoint& p : t.memory)
      if (p.time >= from && p.time < to) out = std::max(out, p.bytes);
    return out;
  }

  // ---- names

  std::string task_of(SegmentId s) const {
    const std::string name = units_of(s);
    return name.empty() ? "" : std::string(to_string(segment(s).phase)) + "(" + name + ")";
  }

  std::string units_of(SegmentId s) const {
    const std::set<OpId>& ops = operators_[at(s)];
    const plan::UnitInfo* unit = nullptr;
    for (const plan::CutInfo& cut : decisions_.cuts)
      for (int u : cut.units) {
        const plan::UnitInfo& candidate = decisions_.units[at(u)];
        const bool meets = std::any_of(candidate.operators.begin(), candidate.operators.end(),
                                       [&](int op) { return ops.contains(static_cast<OpId>(op)); });
        if (meets && unit && unit != &candidate) return {};  // of several
        if (meets) unit = &candidate;
      }
    if (!unit) return modules_of(ops);
    const std::string call = call_of(*unit, s);
    return call == "?" ? "" : unit->name + call;
  }

  // `@1` where the segment has the second call of the unit's modules, nothing where these are called once; `?` where another
  // task of its phase has a part of them.
  std::string call_of(const plan::UnitInfo& unit, SegmentId s) const {
    const auto calls = [&](SegmentId x) {
      std::set<int> out;
      for (int op : unit.operators)
        if (operators_[at(x)].contains(static_cast<OpId>(op))) out.insert(graph_.node(static_cast<OpId>(op)).call);
      return out;
    };
    const std::set<int> own = calls(s);
    if (own.size() != 1) return "?";
    for (SegmentId other : segments_)
      if (other != s && segment(other).phase == segment(s).phase && calls(other).contains(*own.begin())) return "?";
    return *own.begin() < 0 ? "" : "@" + std::to_string(*own.begin());
  }

  // The modules none of whose operators run elsewhere.
  std::string modules_of(const std::set<OpId>& ops) const {
    std::set<std::string> modules;
    for (OpId op : ops)
      if (!graph_.ops[at(op)].parameter_free && !graph_.node(op).module.empty()) modules.insert(graph_.node(op).module);
    for (OpId op = 0; op < static_cast<OpId>(graph_.ops.size()); ++op)
      if (!ops.contains(op) && !graph_.ops[at(op)].parameter_free) modules.erase(graph_.node(op).module);
    return modules.empty() || modules.size() > 6 ? "" : join({modules.begin(), modules.end()}, ", ");
  }

  const Materialized& m_;
  const Graph& graph_;
  const plan::Decisions& decisions_;
  const Program& program_;
  const Simulation& simulation_;
  const Cluster& cluster_;
  AxisId axis_ = -1;
  std::vector<std::set<OpId>> operators_;  // by segment
  std::vector<SegmentId> segments_;        // by block
  std::vector<int> block_of_;              // by segment
  ProgramCase out_;
};

std::string index_text(std::int64_t ahead) {
  return ahead == 0 ? "[m]" : ahead > 0 ? "[m+" + std::to_string(ahead) + "]" : "[m-" + std::to_string(-ahead) + "]";
}

}  // namespace

Result<ProgramCase> program_case(const Materialized& m, const Simulation& s, const Cluster& cluster) {
  return Builder(m, s, cluster).build();
}

std::vector<std::string> order_lines(const ProgramCase& c, const schedule::Answer& a) {
  std::vector<std::string> out;
  const schedule::Pattern& pattern = a.pattern;
  if (pattern.period <= 0) return out;
  for (int device = 0; device < c.problem.devices; ++device) {
    struct Turn {
      std::int64_t slot, ahead;
      int task;
    };
    std::vector<Turn> turns;
    std::int64_t latest = 0;
    for (int t = 0; t < static_cast<int>(a.problem.tasks.size()); ++t) {
      const schedule::Task& task = a.problem.tasks[at(t)];
      if (c.tasks[at(task.block)].empty() ||
          std::find(task.devices.begin(), task.devices.end(), device) == task.devices.end())
        continue;
      const std::int64_t start = pattern.start[at(t)];
      turns.push_back({start % pattern.period, start / pattern.period, t});
      latest = std::max(latest, start / pattern.period);
    }
    if (turns.size() < 2) continue;
    std::sort(turns.begin(), turns.end(), [](const Turn& x, const Turn& y) { return x.slot < y.slot; });
    // In one period a task that starts k periods late runs the micro-batch k before; m is that of the latest.
    std::vector<std::string> chain;
    for (const Turn& t : turns)
      chain.push_back(c.tasks[at(a.problem.tasks[at(t.task)].block)] + index_text(latest - t.ahead));
    chain.push_back(c.tasks[at(a.problem.tasks[at(turns[0].task)].block)] + index_text(latest - turns[0].ahead + 1));
    const std::string line = "order " + join(chain, " < ");
    if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  }
  return out;
}

std::vector<std::string> whole_order_lines(const ProgramCase& c, const schedule::Answer& a, int most) {
  std::vector<std::string> out;
  const schedule::Problem& p = a.problem;
  if (a.timeline.start.empty()) return out;
  std::vector<std::vector<std::string>> chains(at(c.problem.devices));
  for (int i : order_of(p, a.timeline)) {
    const schedule::Task& task = p.tasks[at(i / p.rounds)];
    const std::string& name = c.tasks[at(task.block)];
    if (name.empty()) continue;
    for (int d : task.devices) chains[at(d)].push_back(name + "[" + std::to_string(i % p.rounds) + "]");
  }
  for (const auto& chain : chains) {
    if (static_cast<int>(chain.size()) > most) return {};
    const std::string line = "order " + join(chain, " < ");
    if (chain.size() > 1 && std::find(out.begin(), out.end(), line) == out.end()) out.push_back(line);
  }
  return out;
}

}  // namespace planscope::orders
