#include "app/workbench/timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "app/workbench/stage_text.h"
#include "app/workbench/traffic.h"
#include "engine/base/format.h"
#include "planner/cost/communication_cost.h"
#include "planner/simulate/alive.h"
#include "planner/simulate/critical_path.h"
#include "viz/timeline/export.h"

namespace planscope {

namespace {

constexpr std::size_t kMostAlive = 8;  // groups that are named at a peak

viz::Microseconds us(Nanoseconds n) { return {static_cast<double>(n) / 1000}; }
viz::Bytes bytes(std::int64_t n) { return {static_cast<double>(n)}; }

viz::BlockKind kind_of(Phase phase) {
  switch (phase) {
    case Phase::backward:
      return viz::BlockKind::backward;
    case Phase::weight:
      return viz::BlockKind::weight;
    case Phase::update:
      return viz::BlockKind::update;
    default:
      return viz::BlockKind::forward;
  }
}

class Builder {
 public:
  Builder(const Graph& graph, const Program& program, const Simulation& simulation, const TimelineParts& parts)
      : graph_(graph), program_(program), simulation_(simulation), cluster_(parts.cluster), parts_(parts) {}

  viz::TimelineModel build() {
    Nanoseconds end = simulation_.step_ns;  // a period of overlapping steps ends later on some devices
    for (const ClassTimeline& t : simulation_.classes) end = std::max(end, t.makespan);
    out_.duration = us(end);
    for (std::size_t c = 0; c < simulation_.classes.size(); ++c) lane(c);
    find_reads();
    critical();
    links();
    detail_there_is();
    return std::move(out_);
  }

 private:
  void lane(std::size_t c) {
    const ClassTimeline& t = simulation_.classes[c];
    viz::Lane lane;
    lane.name = program_.classes[c].name;
    lane.about = stage_text(graph_, program_, program_.classes[c]);
    lane.devices = static_cast<int>(t.devices);
    lane.capacity = bytes(t.capacity.count);
    const bool single = t.slots.size() <= slots_from && !t.instructions.empty();
    of_slots_.emplace_back(t.slots.size());
    lane.streams.push_back({"compute", viz::StreamKind::compute,
                            with_gaps(single ? instructions(t, t.instructions, Stream::compute) : slots(t), t.gaps)});
    if (!single && !t.instructions.empty())
      lane.streams.push_back({"operators", viz::StreamKind::operators,
                              with_gaps(instructions(t, t.instructions, Stream::compute), within_window(t.gaps))});
    find_slots(t, lane.streams[0], single, of_slots_.back());
    for (const Stream s : {Stream::collective, Stream::network, Stream::transfer, Stream::offload, Stream::restore}) {
      std::vector<viz::Block> blocks = instructions(t, t.communication, s);
      if (!blocks.empty())
        lane.streams.push_back({std::string(to_string(s)), viz::StreamKind::communication, std::move(blocks)});
    }
    memory(c, lane);
    out_.lanes.push_back(std::move(lane));
  }

  void memory(std::size_t c, viz::Lane& lane) const {
    const ClassTimeline& t = simulation_.classes[c];
    for (std::size_t k = 0; k < t.memory.size(); ++k) {
      viz::MemoryStep step{std::min(us(t.memory[k].time), out_.duration), bytes(t.memory[k].bytes)};
      if (parts_.kinds)
        for (int i = 0; i < kMemoryKinds; ++i)
          step.kinds[static_cast<std::size_t>(i)] = bytes((*parts_.kinds)[c][k].kinds[static_cast<std::size_t>(i)]);
      lane.memory.push_back(step);
    }
    lane.peak_at = us(std::max<Nanoseconds>(0, t.peak_time));
    std::int64_t rest = t.peak.bytes();
    for (const AliveGroup& a : alive_groups(graph_, program_, t)) {
      if (lane.alive.size() == kMostAlive) break;
      lane.alive.push_back({a.what + (a.count > 1 ? " × " + std::to_string(a.count) : ""), static_cast<viz::MemoryKind>(a.kind), bytes(a.bytes)});
      rest -= a.bytes;
    }
    if (!lane.alive.empty() && rest != 0) lane.alive.push_back({"others", viz::MemoryKind::activations, bytes(rest)});
  }
  static_assert(kMemoryKinds == viz::memory_kinds && static_cast<int>(MemoryKind::weights) == static_cast<int>(viz::MemoryKind::parameters) &&
                static_cast<int>(MemoryKind::communication) == static_cast<int>(viz::MemoryKind::communication));

  // Whose results each instruction reads: those of the same run of its segment that are drawn.
  void find_reads() {
    std::map<SegmentId, std::map<ProgramValueId, int>> makers;
    for (const auto& [key, detail] : known_) {
      const auto [id, k] = key;
      if (k < 0) continue;
      const std::vector<Instruction>& all = segment_at(id).instructions;
      const auto [of, fresh] = makers.try_emplace(id);
      if (fresh)
        for (int j = 0; j < static_cast<int>(all.size()); ++j)
          if (const Code c = all[static_cast<std::size_t>(j)].code; c != Code::wait && c != Code::free)
            for (const ProgramValueId v : all[static_cast<std::size_t>(j)].out) of->second.emplace(v, j);
      std::vector<std::int32_t>& reads = out_.details[static_cast<std::size_t>(detail)].reads;
      for (const ProgramValueId v : all[static_cast<std::size_t>(k)].in) {
        const auto maker = of->second.find(v);
        if (maker == of->second.end() || maker->second >= k) continue;
        const auto drawn = known_.find({id, maker->second});
        if (drawn != known_.end()) reads.push_back(drawn->second);
      }
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    }
  }

  // Where single operators are recorded, and how many there are.
  void detail_there_is() {
    if (is_detailed(simulation_) && !parts_.window) return;
    double runs = 0;
    for (std::size_t c = 0; c < simulation_.classes.size(); ++c)
      for (const SlotBlock& s : simulation_.classes[c].slots) runs += static_cast<double>(segment(s).instructions.size());
    out_.detail = viz::Detail{{}, {}, runs / std::max(1e-3, out_.duration.value)};
    if (parts_.window) out_.detail->begin = us(parts_.window->from), out_.detail->end = us(parts_.window->to);
  }

  // Blocks of the compute stream by slot, each with its instruction (-1: the whole slot).
  struct OfSlot {
    int instruction, block;
  };
  void find_slots(const ClassTimeline& t, const viz::Stream& stream, bool single, std::vector<std::vector<OfSlot>>& out) const {
    std::vector<std::pair<int, int>> order;  // slot and instruction of those that are drawn
    if (single) {
      for (const InstructionBlock& b : t.instructions)
        if (b.stream == Stream::compute && b.end > b.start) order.push_back({b.slot, b.instruction});
    } else {
      for (int k = 0; k < static_cast<int>(t.slots.size()); ++k)
        if (t.slots[static_cast<std::size_t>(k)].end > t.slots[static_cast<std::size_t>(k)].start) order.push_back({k, -1});
    }
    std::size_t next = 0;
    for (int b = 0; b < static_cast<int>(stream.blocks.size()) && next < order.size(); ++b)
      if (!viz::is_idle(stream.blocks[static_cast<std::size_t>(b)].kind)) {
        out[static_cast<std::size_t>(order[next].first)].push_back({order[next].second, b});
        ++next;
      }
  }

  // Messages between classes: from what runs before the send to what runs behind the wait.
  void links() {
    std::unordered_map<std::uint64_t, std::vector<viz::BlockRef>> sent;
    each_slot([&](int c, std::size_t slot, const Segment& s) {
      for (int k = 0; k < static_cast<int>(s.instructions.size()); ++k) {
        const Instruction& i = s.instructions[static_cast<std::size_t>(k)];
        if (i.code != Code::send || i.transfer < 0) continue;
        if (const auto from = block_of(c, slot, [k](int at) { return at < k; }, false))
          sent[message(c, slot, i.transfer, program_.transfers[static_cast<std::size_t>(i.transfer)].from)].push_back(*from);
      }
    });
    each_slot([&](int c, std::size_t slot, const Segment& s) {
      for (const Instruction& i : s.instructions) {
        if (i.code != Code::receive || i.transfer < 0) continue;
        const std::vector<ProgramValueId>& values = program_.transfers[static_cast<std::size_t>(i.transfer)].to;
        const auto found = sent.find(message(c, slot, i.transfer, values));
        if (found == sent.end()) continue;
        const int waits = wait_for(s, values);
        if (const auto to = block_of(c, slot, [waits](int at) { return at > waits; }, true))
          for (const viz::BlockRef& from : found->second)
            if (out_.at(from).end() <= out_.at(*to).start + viz::Microseconds{1e-6}) out_.links.push_back({from, *to});
      }
    });
  }

  template <class Visit>
  void each_slot(Visit&& visit) const {
    for (int c = 0; c < static_cast<int>(simulation_.classes.size()); ++c) {
      const std::vector<SlotBlock>& slots = simulation_.classes[static_cast<std::size_t>(c)].slots;
      for (std::size_t k = 0; k < slots.size(); ++k) visit(c, k, segment(slots[k]));
    }
  }

  // The nearest block of the slot whose instruction is on that side.
  template <class Fits>
  std::optional<viz::BlockRef> block_of(int c, std::size_t slot, Fits&& fits, bool first) const {
    std::optional<viz::BlockRef> out;
    for (const OfSlot& b : of_slots_[static_cast<std::size_t>(c)][slot])
      if (b.instruction < 0 || fits(b.instruction)) {
        out = viz::BlockRef{c, 0, b.block};
        if (first) break;
      }
    return out;
  }

  static int wait_for(const Segment& s, const std::vector<ProgramValueId>& values) {
    for (int k = 0; k < static_cast<int>(s.instructions.size()); ++k) {
      const Instruction& i = s.instructions[static_cast<std::size_t>(k)];
      if (i.code == Code::wait && !values.empty() && std::find(i.out.begin(), i.out.end(), values.front()) != i.out.end()) return k;
    }
    return -1;
  }

  // One message of a transfer: by the index of its values; an axis that the slot does not have counts as its last index.
  std::uint64_t message(int c, std::size_t slot, int transfer, const std::vector<ProgramValueId>& values) const {
    const SlotBlock& block = simulation_.classes[static_cast<std::size_t>(c)].slots[slot];
    const Segment& s = segment(block);
    const std::vector<std::int64_t> index = index_of(program_, block);
    std::uint64_t n = 0;
    for (const AxisId a : program_.values[static_cast<std::size_t>(values.front())].indexed) {
      const std::int64_t size = program_.axes[static_cast<std::size_t>(a)].size;
      const auto at = std::find(s.free_axes.begin(), s.free_axes.end(), a);
      n = n * static_cast<std::uint64_t>(size) +
          static_cast<std::uint64_t>(at == s.free_axes.end() ? size - 1 : index[static_cast<std::size_t>(at - s.free_axes.begin())]);
    }
    return n * program_.transfers.size() + static_cast<std::uint64_t>(transfer);
  }

  // Communication that is not drawn, of a device's own thread, lies on the compute stream.
  void critical() {
    for (const CriticalPart& p : critical_path(simulation_)) {
      const std::vector<viz::Stream>& streams = out_.lanes[static_cast<std::size_t>(p.device_class)].streams;
      std::int32_t stream = 0;
      for (std::size_t k = 1; k < streams.size(); ++k)
        if (p.stream != Stream::compute && streams[k].name == to_string(p.stream)) stream = static_cast<std::int32_t>(k);
      out_.critical.push_back({p.device_class, stream, us(p.start), us(p.end - p.start)});
    }
  }

  const Segment& segment(const SlotBlock& s) const { return program_.segments[static_cast<std::size_t>(s.segment)]; }

  std::int32_t micro_batch(const SlotBlock& s) const {
    return segment(s).free_axes.empty() ? -1 : static_cast<std::int32_t>(s.index);
  }

  std::string short_label(const SlotBlock& s) const {
    const std::string phase = std::string(to_string(segment(s).phase)) + (s.ahead ? "+" + std::to_string(s.ahead) : "");
    return segment(s).free_axes.empty() ? phase : phase + std::to_string(s.index);
  }

  std::vector<viz::Block> slots(const ClassTimeline& t) {
    std::vector<viz::Block> out;
    for (const SlotBlock& s : t.slots) {
      if (s.end <= s.start) continue;
      out.push_back({us(s.start), us(s.end - s.start), kind_of(segment(s).phase), micro_batch(s), detail(s.segment, -1),
                     short_label(s)});
    }
    return out;
  }

  std::vector<viz::Block> instructions(const ClassTimeline& t, const std::vector<InstructionBlock>& from,
                                       Stream stream) {
    std::vector<viz::Block> out;
    for (const InstructionBlock& b : from) {
      if (b.stream != stream || b.end <= b.start) continue;
      const SlotBlock& s = t.slots[static_cast<std::size_t>(b.slot)];
      const bool compute = stream == Stream::compute;
      out.push_back({us(b.start), us(b.end - b.start),
                     compute ? kind_of(segment(s).phase) : viz::BlockKind::communication, micro_batch(s),
                     detail(s.segment, b.instruction), compute ? short_label(s) : communication_label(s.segment, b)});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const viz::Block& a, const viz::Block& b) { return a.start < b.start; });
    return out;
  }

  // Where single operators are recorded; those within slots are seen there alone.
  std::vector<Gap> within_window(const std::vector<Gap>& gaps) const {
    if (!parts_.window) return gaps;
    std::vector<Gap> out;
    for (Gap g : gaps) {
      g.start = std::max(g.start, parts_.window->from), g.end = std::min(g.end, parts_.window->to);
      if (g.start < g.end) out.push_back(g);
    }
    return out;
  }

  // The parts of gaps that no block covers, between the blocks.
  static std::vector<viz::Block> with_gaps(std::vector<viz::Block> work, const std::vector<Gap>& gaps) {
    std::vector<viz::Block> out;
    std::size_t next = 0;
    for (const Gap& g : gaps) {
      viz::Microseconds from = us(g.start);
      if (!out.empty()) from = std::max(from, out.back().end());  // the gap may begin within a block
      const viz::Microseconds to = us(g.end);
      for (; next < work.size() && work[next].start < to; ++next) {
        if (work[next].start > from) out.push_back(idle(g.cause, from, work[next].start));
        from = std::max(from, work[next].end());
        out.push_back(std::move(work[next]));
      }
      if (from < to) out.push_back(idle(g.cause, from, to));
    }
    for (; next < work.size(); ++next) out.push_back(std::move(work[next]));
    return out;
  }

  static viz::Block idle(IdleCause cause, viz::Microseconds from, viz::Microseconds to) {
    const auto kind = static_cast<viz::BlockKind>(static_cast<int>(viz::BlockKind::idle_warm_up) + static_cast<int>(cause));
    return {from, to - from, kind, -1, -1, ""};
  }
  static_assert(static_cast<int>(viz::BlockKind::idle_memory) - static_cast<int>(viz::BlockKind::idle_warm_up) ==
                static_cast<int>(IdleCause::memory));

  std::string communication_label(SegmentId id, const InstructionBlock& b) const {
    if (b.instruction < 0) return std::string(to_string(b.stream));
    const Instruction& i = segment_at(id).instructions[static_cast<std::size_t>(b.instruction)];
    return i.code == Code::issue ? std::string(to_string(i.move.kind)) : std::string(to_string(i.code));
  }

  const Segment& segment_at(SegmentId id) const { return program_.segments[static_cast<std::size_t>(id)]; }

  std::int32_t detail(SegmentId id, int instruction) {
    const auto [it, fresh] =
        known_.emplace(std::pair(id, instruction), static_cast<std::int32_t>(out_.details.size()));
    if (fresh) {
      out_.details.push_back(instruction < 0 ? of_segment(id) : of_instruction(id, instruction));
      const Segment& s = segment_at(id);
      out_.details.back().task = s.name;
      for (const AxisId a : s.free_axes) {
        const Axis& axis = program_.axes[static_cast<std::size_t>(a)];
        out_.details.back().index_axes.emplace_back(axis.name, static_cast<std::int32_t>(axis.size));
      }
    }
    return it->second;
  }

  viz::BlockDetail of_segment(SegmentId id) const {
    const Segment& s = program_.segments[static_cast<std::size_t>(id)];
    viz::BlockDetail d;
    d.title = s.name;
    d.subtitle = "on " + describe(program_, program_.places[static_cast<std::size_t>(s.place)]);
    std::map<std::string, int> counts;
    for (const Instruction& i : s.instructions) {
      ++counts[std::string(to_string(i.code))];
      add_sent(s, i, d);
      if (i.piece < 0) continue;
      for (const PieceOp& op : program_.pieces[static_cast<std::size_t>(i.piece)].ops) d.operators.push_back(op.op);
    }
    std::sort(d.operators.begin(), d.operators.end());
    d.operators.erase(std::unique(d.operators.begin(), d.operators.end()), d.operators.end());
    sort_sent(d);
    d.facts.push_back({"operators", std::to_string(d.operators.size())});
    for (const auto& [code, n] : counts) d.facts.push_back({code, std::to_string(n)});
    return d;
  }

  viz::BlockDetail of_instruction(SegmentId id, int k) const {
    const Segment& s = program_.segments[static_cast<std::size_t>(id)];
    const Instruction& i = s.instructions[static_cast<std::size_t>(k)];
    viz::BlockDetail d;
    d.title = describe(program_, graph_, i);
    d.subtitle = s.name + " on " + describe(program_, program_.places[static_cast<std::size_t>(s.place)]);
    int statement = i.statement;
    describe_communication(s, i, d);
    add_sent(s, i, d);
    if (i.piece >= 0) describe_piece(program_.pieces[static_cast<std::size_t>(i.piece)], d, statement);
    for (const ProgramValueId v : i.out) {
      if (v < 0) continue;
      const ProgramValue& value = program_.values[static_cast<std::size_t>(v)];
      d.facts.push_back(
          {graph_.tensor_name(value.tensor),
           describe(program_, graph_, program_.layouts[static_cast<std::size_t>(value.layout)], value.tensor)});
    }
    if (statement >= 0) {
      const StatementRef& ref = program_.statements[static_cast<std::size_t>(statement)];
      d.plan_line = ref.line;
      d.facts.push_back({"statement", ref.text});
    }
    return d;
  }

  void add_sent(const Segment& s, const Instruction& i, viz::BlockDetail& d) const {
    std::string name = communicator_name(program_, s.place, i);
    if (name.empty()) return;
    d.communicators.push_back(std::move(name));
    const std::vector<TensorId> sent = tensors_sent(program_, i);
    d.tensors.insert(d.tensors.end(), sent.begin(), sent.end());
  }

  static void sort_sent(viz::BlockDetail& d) {
    const auto sorted = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    sorted(d.tensors);
    sorted(d.communicators);
  }

  // Kind, group and bytes first: "all_reduce over tensor · 64 MiB among 2 devices".
  void describe_communication(const Segment& s, const Instruction& i, viz::BlockDetail& d) const {
    const bool transfer = i.code == Code::send || i.code == Code::receive;
    if (!cluster_ || (i.code != Code::issue && !(transfer && i.transfer >= 0))) return;
    const MoveCost c = transfer ? transfer_cost(graph_, program_, *cluster_, program_.transfers[static_cast<std::size_t>(i.transfer)])
                                : move_cost(graph_, program_, *cluster_, s.place, i);
    const std::string bytes = bytes_text(static_cast<double>(c.payload.count));
    if (transfer) {
      d.title = std::string(to_string(i.code)) + " between stages · " + bytes;
    } else {
      const ProgramValueId v = i.in.empty() ? -1 : i.in.front();
      const std::string what = v < 0 ? std::string(to_string(i.move.kind))
                                     : describe(program_, graph_, i.move, program_.values[static_cast<std::size_t>(v)].tensor);
      d.title = what + " · " + bytes + " among " + std::to_string(c.group) + (c.group == 1 ? " device" : " devices");
    }
    d.facts.push_back({"bytes", bytes});
    d.facts.push_back({"sent by each device", bytes_text(c.sent)});
    if (c.level >= 0 && c.level < static_cast<int>(cluster_->levels.size()))
      d.facts.push_back({"over", cluster_->levels[static_cast<std::size_t>(c.level)].name});
  }

  void describe_piece(const Piece& piece, viz::BlockDetail& d, int& statement) const {
    if (piece.ops.empty()) return;
    const Node& first = graph_.node(piece.ops.front().op);
    d.title = first.name();
    if (piece.ops.size() > 1) d.title += " … " + graph_.node(piece.ops.back().op).name();
    if (!first.source.empty()) d.subtitle += " · " + first.source;
    double flops = 0;
    for (const PieceOp& op : piece.ops) {
      d.operators.push_back(op.op);
      flops += graph_.ops[static_cast<std::size_t>(op.op)].flops;
      for (const Binding& b : op.bindings)
        if (statement < 0) statement = b.statement;
    }
    d.facts.push_back({"operators", std::to_string(piece.ops.size())});
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", flops);
    d.facts.push_back({"FLOPs, before splitting", text});
  }

  const Graph& graph_;
  const Program& program_;
  const Simulation& simulation_;
  const Cluster* cluster_;
  const TimelineParts& parts_;
  std::vector<std::vector<std::vector<OfSlot>>> of_slots_;  // by class and slot
  viz::TimelineModel out_;
  std::map<std::pair<SegmentId, int>, std::int32_t> known_;
};

}  // namespace

viz::TimelineModel timeline(const Graph& graph, const Program& program, const Simulation& simulation, const TimelineParts& parts) {
  return Builder(graph, program, simulation, parts).build();
}

bool is_detailed(const Simulation& s) {
  return std::all_of(s.classes.begin(), s.classes.end(), [](const ClassTimeline& t) {
    return (!t.instructions.empty() || t.compute == 0) &&
           std::all_of(t.communication.begin(), t.communication.end(), [](const InstructionBlock& b) { return b.instruction >= 0; });
  });
}

std::string timeline_svg(const Graph& graph, const Program& program, const Simulation& simulation,
                         const std::string& title) {
  viz::TimelinePictureOptions options;
  options.title = title;
  return viz::to_svg(timeline(graph, program, simulation), options);
}

}  // namespace planscope
