#include "planner/search/stages/probe.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/element_types.h"
#include "engine/plan/parser.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/working_set.h"

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Layers as the second micro-batch visits them: forward call by call, then backward.
struct Visit {
  int layer = 0, call = 0;
  bool forward = true;
  Nanoseconds start = -1;
};
std::vector<Visit> visits_of(const ModelShape& m) {
  std::vector<Visit> out;
  for (int call = 0; call < m.calls; ++call)
    for (int l = 0; l < m.unit_count(); ++l) out.push_back({l, call, true, -1});
  for (int call = m.calls - 1; call >= m.first_trained; --call)
    for (int l = m.unit_count() - 1; l >= 0; --l) out.push_back({l, call, false, -1});
  return out;
}

// What a segment is of: the layer of its first operator that is of one (backward: its last), as a border between layers may
// lie within a segment.
struct Part {
  int layer = -1, call = 0;  // -1: of none
  bool forward = false, backward = false;
};
Part part_of(const ModelShape& m, const Graph& g, const Program& program, const Segment& segment) {
  Part out;
  out.forward = segment.phase == Phase::forward;
  out.backward = segment.phase == Phase::backward;
  OpId first = -1;
  for (const Instruction& i : segment.instructions)
    if (i.piece >= 0)
      for (const PieceOp& op : program.pieces[at(i.piece)].ops)
        if (first < 0 || (out.backward ? op.op > first : op.op < first))
          if (m.layer_of(g.node(op.op).module) >= 0) first = op.op;
  if (first < 0) return out;
  out.layer = m.layer_of(g.node(first).module);
  out.call = std::clamp(g.node(first).call, 0, m.calls - 1);
  return out;
}

// Of the axis of micro-batches; -1: the slot is of all.
std::int64_t micro_batch_of(const Program& program, const SlotBlock& s) {
  const Segment& segment = program.segments[at(s.segment)];
  std::int64_t inner = 1;
  for (auto axis = segment.free_axes.rbegin(); axis != segment.free_axes.rend(); ++axis) {
    const auto& a = program.axes[at(*axis)];
    if (a.name == "mb") return s.index / inner % a.size;
    inner *= a.size;
  }
  return -1;
}

// The second micro-batch: from the end of the first one to its own, but for what of it ran ahead.
struct Second {
  Nanoseconds begin = -1, end = -1, ahead_ns = 0;
  std::vector<SlotBlock> slots, ahead;
  Nanoseconds takes() const { return end - begin + ahead_ns; }
};

Second second_of(const Program& program, const ClassTimeline& timeline) {
  Second out;
  for (const SlotBlock& s : timeline.slots) {
    const std::int64_t micro_batch = micro_batch_of(program, s);
    if (micro_batch == 0) out.begin = std::max(out.begin, s.end);
    if (micro_batch != 1) continue;
    out.end = std::max(out.end, s.end);
    out.slots.push_back(s);
  }
  for (const SlotBlock& s : out.slots) {
    if (s.end > out.begin) continue;
    out.ahead_ns += s.end - s.start;
    out.ahead.push_back(s);
  }
  return out;
}

// Its layers.
struct Borders {
  std::vector<Visit> visits;
  std::vector<SlotBlock> others;  // slots that belong to no layer
  bool complete() const {
    return std::all_of(visits.begin(), visits.end(), [](const Visit& v) { return v.start >= 0; });
  }
};

Borders borders_of(const ModelShape& m, const std::vector<Part>& parts, const Second& second) {
  Borders out;
  out.visits = visits_of(m);
  for (const SlotBlock& s : second.slots) {
    const Part& part = parts[at(s.segment)];
    if (part.layer < 0) out.others.push_back(s);
    if (part.layer < 0 || (!part.forward && !part.backward)) continue;
    const int n = m.unit_count();
    const int visit =
        part.forward ? part.call * n + part.layer : m.calls * n + (m.calls - 1 - part.call) * n + n - 1 - part.layer;
    if (visit < 0 || at(visit) >= out.visits.size()) continue;
    Nanoseconds& start = out.visits[at(visit)].start;
    if (start < 0) start = s.start;
  }
  return out;
}

class MemoryAt {
 public:
  explicit MemoryAt(const std::vector<MemoryPoint>& points) : points_(points) {}
  // Between what ends at a moment and what begins then.
  std::int64_t at(Nanoseconds t) const {
    auto p = from(t);
    std::int64_t least = p == points_.begin() ? 0 : std::prev(p)->bytes;
    for (; p != points_.end() && p->time == t; ++p) least = std::min(least, p->bytes);
    return least;
  }
  std::int64_t peak(Nanoseconds begin, Nanoseconds end) const {
    std::int64_t most = at(begin);
    for (auto p = from(begin); p != points_.end() && p->time < end; ++p) most = std::max(most, p->bytes);
    return most;
  }

 private:
  std::vector<MemoryPoint>::const_iterator from(Nanoseconds t) const {
    return std::lower_bound(points_.begin(), points_.end(), t,
                            [](const MemoryPoint& m, Nanoseconds moment) { return m.time < moment; });
  }
  const std::vector<MemoryPoint>& points_;
};

// The layers whose forward reads each tensor, by segments: what stands between layers belongs to the one that it is run with.
std::vector<std::set<int>> reading_layers(const Graph& g, const Program& program, const std::vector<Part>& parts) {
  std::vector<std::set<int>> out(g.tensors.size());
  int layer = 0;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    if (segment.phase != Phase::forward) continue;
    if (parts[s].layer >= 0) layer = parts[s].layer;
    for (const Instruction& i : segment.instructions)
      if (i.piece >= 0)
        for (const PieceOp& op : program.pieces[at(i.piece)].ops)
          for (const Operand& in : g.ops[at(op.op)].inputs)
            if (in.tensor >= 0) out[at(in.tensor)].insert(layer);
  }
  return out;
}

void add_parameters(const Graph& g, const ModelShape& m, const Program& program, const std::vector<Part>& parts,
                    bool interlaced, Probe& out) {
  const std::vector<std::set<int>> reading = reading_layers(g, program, parts);
  const auto outside = [&](TensorId t) {
    const auto& readers = g.tensors[at(t)].readers;
    return !readers.empty() && m.layer_of(g.node(readers.front()).module) < 0;
  };
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const ProgramValue& value = program.values[v];
    if (value.role != Role::home || reading[at(value.tensor)].empty()) continue;
    const std::set<int>& layers = reading[at(value.tensor)];
    const std::int64_t bytes = value_bytes(g, program, static_cast<ProgramValueId>(v)).count;
    const std::int64_t element =
        std::max<std::int64_t>(1, g.bytes(value.tensor) / std::max<std::int64_t>(1, g.elements(value.tensor)));
    LayerCost cost;
    if (g.tensors[at(value.tensor)].gradient) {
      cost.parameter_bytes = bytes;
      cost.parameters = bytes / element * optimizer_units(g.model->values[at(value.tensor)].dtype);
    } else {
      cost.constant_bytes = bytes;
    }
    const bool shared = interlaced && outside(value.tensor);
    LayerCost& owner = shared ? out.everywhere : out.layers[at(*layers.begin())];
    owner.parameter_bytes += cost.parameter_bytes;
    owner.parameters += cost.parameters;
    owner.constant_bytes += cost.constant_bytes;
    if (shared) {
      owner.gradient_bytes += cost.parameter_bytes;
      continue;
    }
    for (const int l : layers) out.layers[at(l)].gradient_bytes += cost.parameter_bytes;
    for (auto l = std::next(layers.begin()); l != layers.end(); ++l) out.tied.push_back({*std::prev(l), *l, cost});
  }
}

bool of_each_micro_batch(const Program& program, const Segment& s) {
  return std::any_of(s.free_axes.begin(), s.free_axes.end(),
                     [&](int axis) { return program.axes[at(axis)].name == "mb"; });
}

// What forward of one layer leaves to those behind it, of one micro-batch.
void add_borders(const Graph& g, const Program& program, const std::vector<Part>& parts, Probe& out) {
  std::map<ProgramValueId, std::pair<int, int>> made_and_read;  // the layer that makes it, the last that reads it
  int layer = 0;
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    if (segment.phase != Phase::forward || !of_each_micro_batch(program, segment)) continue;
    if (parts[s].call > 0) break;
    if (parts[s].layer >= 0) layer = parts[s].layer;
    for (const Instruction& i : segment.instructions) {
      if (i.code == Code::free) continue;
      for (const ProgramValueId v : i.in)
        if (const auto made = made_and_read.find(v); made != made_and_read.end()) made->second.second = layer;
      for (const ProgramValueId v : i.out) made_and_read.emplace(v, std::pair(layer, layer));
    }
  }
  for (const auto& [value, layers] : made_and_read)
    for (int l = layers.first + 1; l <= layers.second; ++l)
      out.layers[at(l)].border_bytes += value_bytes(g, program, value).count;
}

// Of segments that run once for all micro-batches: what outlives them.
void add_constants(const Graph& g, const Program& program, const std::vector<Part>& parts, Probe& out) {
  const auto once = [&](const Segment& s) { return s.phase == Phase::forward && !of_each_micro_batch(program, s); };
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    if (!once(program.segments[s])) continue;
    std::set<ProgramValueId> alive;
    for (const Instruction& i : program.segments[s].instructions) {
      alive.insert(i.out.begin(), i.out.end());
      if (i.code == Code::free)
        for (const ProgramValueId v : i.in) alive.erase(v);
    }
    for (const ProgramValueId v : alive)
      out.layers[at(std::max(0, parts[s].layer))].constant_bytes += value_bytes(g, program, v).count;
  }
}

// What operators of a layer keep beside operands and results, and what its backward reads as a value, to gather it again.
void add_staying(const Graph& g, const Program& program, const std::vector<Part>& parts, Probe& out) {
  std::map<ProgramValueId, int> made;  // … by forward of a layer, in every micro-batch
  std::set<ProgramValueId> read;       // … by backward
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    const bool forward = segment.phase == Phase::forward && parts[s].layer >= 0;
    for (const Instruction& i : segment.instructions) {
      if (segment.phase == Phase::backward && i.code != Code::free) read.insert(i.in.begin(), i.in.end());
      if (!forward) continue;
      if (of_each_micro_batch(program, segment))
        for (const ProgramValueId v : i.out) made.emplace(v, parts[s].layer);
      if (i.code != Code::compute || !i.keep) continue;
      const Piece& piece = program.pieces[at(i.piece)];
      out.layers[at(parts[s].layer)].staying_bytes += working_set(g, piece, slot_bytes(g, program, piece)).aside;
    }
  }
  for (const auto& [value, layer] : made)
    if (read.contains(value)) out.layers[at(layer)].staying_bytes += value_bytes(g, program, value).count;
}

void add_adding(const Graph& g, const Program& program, const std::vector<Part>& parts, const DeviceType& device,
                const CostModel& costs, Probe& out) {
  for (std::size_t s = 0; s < program.segments.size(); ++s) {
    if (!parts[s].backward || parts[s].layer < 0) continue;
    for (const Instruction& i : program.segments[s].instructions) {
      if (i.code != Code::accumulate) continue;
      const auto bytes = static_cast<double>(value_bytes(g, program, i.out.at(0)).count);
      out.layers[at(parts[s].layer)].adding_ns +=
          std::llround(1000 * accumulation_time(bytes, device, costs).time.count);
    }
  }
}

struct Played {
  Materialized made;
  std::vector<Simulation> simulations;  // by kind of devices
};

Result<Played> play(const Graph& graph, const Cluster& cluster, const std::string& text, const std::vector<int>& kinds,
                    const SimulationOptions& options, MaterializeCache& cache) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return plan.diagnostics;
  Result<Materialized> made = materialize(graph, *plan, cluster, {}, &cache);
  if (!made.ok()) return made.diagnostics;
  Played out;
  for (const int kind : kinds) {
    Result<Simulation> simulated = simulate(*made->graph, made->program, cluster.of_kind(kind), options);
    if (!simulated.ok()) return simulated.diagnostics;
    out.simulations.push_back(std::move(*simulated.value));
  }
  out.made = std::move(*made);
  return out;
}

// Where ZeRO-3 splits all: parameters, the sums of their gradients, the optimizer's state. What comes and goes beside, gathered
// parameters above all, is what layers work with.
std::int64_t always_bytes(const Probe& p, const SimulationOptions& options) {
  std::int64_t out = 0;
  for (const LayerCost& l : p.layers)
    out += 2 * l.parameter_bytes + options.optimizer_state_bytes * l.parameters + l.constant_bytes;
  return out;
}
std::int64_t kept_up_to(const Probe& p, int layer) {
  std::int64_t out = 0;
  for (int i = 0; i <= layer; ++i) out += p.layers[at(i)].kept_bytes;
  return out;
}

bool computes(const Program& program, const SlotBlock& s) {
  const Phase phase = program.segments[at(s.segment)].phase;
  return phase == Phase::forward || phase == Phase::backward;
}

// As one prediction says.
Result<Probe> read_probe(const ModelShape& m, const Materialized& made, const Simulation& simulated,
                         const std::vector<Part>& parts, const ProbeKey& key, const DeviceType& device,
                         const SimulationOptions& options) {
  if (simulated.classes.size() != 1) return error("the layers do not run on one group of devices");
  const ClassTimeline& timeline = simulated.classes[0];
  const Second second = second_of(made.program, timeline);
  const Borders b = borders_of(m, parts, second);
  if (second.begin < 0 || !b.complete()) return error("the layers do not run one after the other");
  const MemoryAt memory(timeline.memory);
  Probe out;
  out.layers.resize(at(m.unit_count()));
  for (const SlotBlock& s : second.ahead)
    out.layers[at(b.visits[0].layer)].kept_bytes += memory.at(s.end) - memory.at(s.start);
  add_parameters(*made.graph, m, made.program, parts, key.pipe > 1, out);
  add_borders(*made.graph, made.program, parts, out);
  add_staying(*made.graph, made.program, parts, out);
  add_adding(*made.graph, made.program, parts, device, options.costs, out);
  if (!key.only) add_constants(*made.graph, made.program, parts, out);
  for (std::size_t i = 0; i < b.visits.size(); ++i) {
    const Visit& v = b.visits[i];
    LayerCost& c = out.layers[at(v.layer)];
    const Nanoseconds from = i == 0 ? second.begin : v.start;
    const Nanoseconds to = i + 1 == b.visits.size() ? second.end : b.visits[i + 1].start;
    Nanoseconds time = to - from + (i == 0 ? second.ahead_ns : 0);
    if (key.pipe > 1)
      for (const SlotBlock& s : b.others)
        if (s.start >= from && s.start < to) time -= s.end - s.start;
    (v.forward ? c.forward_ns : c.backward_ns) += time;
    if (v.forward && v.call == 0) c.first_ns = time;
    if (v.forward) c.kept_bytes += memory.at(to) - memory.at(from);
    const std::int64_t beside =
        key.data > 1 ? always_bytes(out, options) + kept_up_to(out, v.layer) : memory.at(v.forward ? to : from);
    c.working_bytes = std::max(c.working_bytes, memory.peak(from, to) - beside);
  }
  if (key.data == 1)  // else gathers of other layers come and go in it, and in what layers work with
    for (LayerCost& c : out.layers) c.kept_bytes = std::max<std::int64_t>(0, c.kept_bytes);
  for (LayerCost& c : out.layers) c.staying_bytes = std::max<std::int64_t>(0, std::min(c.staying_bytes, c.kept_bytes));
  if (key.pipe > 1)
    for (const SlotBlock& s : b.others) {
      const bool forward = parts[at(s.segment)].forward;
      (forward ? out.everywhere.forward_ns : out.everywhere.backward_ns) += s.end - s.start;
      out.everywhere.working_bytes =
          std::max(out.everywhere.working_bytes, memory.peak(s.start, s.end) - memory.at(s.start));
    }
  return out;
}

void take_larger(LayerCost& a, const LayerCost& b) {
  a.forward_ns = std::max(a.forward_ns, b.forward_ns);
  a.backward_ns = std::max(a.backward_ns, b.backward_ns);
  a.first_ns = std::max(a.first_ns, b.first_ns);
  a.adding_ns = std::max(a.adding_ns, b.adding_ns);
  a.kept_bytes = std::max(a.kept_bytes, b.kept_bytes);
  a.staying_bytes = std::max(a.staying_bytes, b.staying_bytes);
  a.working_bytes = std::max(a.working_bytes, b.working_bytes);
}

constexpr int kMany = 16, kSome = 5, kFewest = 3;        // periods of a run (ProbeModels)
constexpr int kWorthwhile = 12, kWorthwhileOfMany = 40;  // periods of a run of which some are left out
constexpr double kSame = 5e-3;                           // by which costs differ that are the same

// Lines that tell layers apart: `trans model.layers[0].mlp …`.
bool names_layers(const std::vector<std::string>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    for (std::size_t i = 1; i < line.size(); ++i)
      if ((line[i - 1] == '[' || line[i - 1] == '.') && line[i] >= '0' && line[i] <= '9') return true;
    return false;
  });
}

Result<std::int64_t> micro_batch_of(const ProbeModels::Layers& layers, const Cluster& cluster, const ProbeKey& key,
                                    const SimulationOptions& options, MaterializeCache& cache, bool borders) {
  const ModelShape& m = layers.shape;
  const std::int64_t micro_batches = key.only ? 1 : 3;
  const std::string script = borders ? probe_script(m, key, micro_batches) : whole_script(m, key, micro_batches);
  const Result<Played> played = play(layers.graph, cluster, script, key.kinds, options, cache);
  if (!played.ok()) return played.diagnostics;
  const Program& program = played->made.program;
  Nanoseconds most = 0;
  for (const Simulation& simulated : played->simulations)
    for (const ClassTimeline& timeline : simulated.classes)
      if (!key.only) {
        const Second second = second_of(program, timeline);
        if (second.begin < 0) return error("no micro-batch follows another");
        most = std::max(most, second.takes());
      } else {
        for (const SlotBlock& s : timeline.slots)
          if (computes(program, s)) most = std::max(most, s.end);
      }
  return most;
}

// Each of `runs` that has at least `worthwhile` periods with so many of them, and with one more; nothing: none has, or it
// cannot be made.
std::optional<ProbeModels::Few> shortened(const Graph& graph, const ModelShape& shape,
                                          const std::vector<LayerRun>& runs, int count, int worthwhile) {
  std::vector<int> periods;
  for (const LayerRun& run : runs) periods.push_back(run.periods < worthwhile ? run.periods : count);
  ProbeModels::Few out;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const int left_out = runs[r].periods - periods[r];
    if (left_out == 0) continue;
    ++periods[r];
    std::optional<FewerLayers> more = fewer_layers(graph, shape, runs, periods).value;
    --periods[r];
    if (!more) return std::nullopt;
    out.longer.push_back({std::move(*more), left_out});
  }
  std::optional<FewerLayers> few = out.longer.empty() ? std::nullopt : fewer_layers(graph, shape, runs, periods).value;
  if (!few) return std::nullopt;
  out.model = std::move(*few);
  return out;
}

Result<Probe> probe_of(const ProbeModels::Layers& layers, const Cluster& cluster, const ProbeKey& key,
                       const SimulationOptions& options, MaterializeCache& cache) {
  const ModelShape& m = layers.shape;
  const Result<Played> played = play(layers.graph, cluster, probe_script(m, key), key.kinds, options, cache);
  if (!played.ok()) return played.diagnostics;
  std::vector<Part> parts;
  for (const Segment& s : played->made.program.segments)
    parts.push_back(part_of(m, *played->made.graph, played->made.program, s));
  const auto read = [&](std::size_t k) {
    const DeviceType& device = cluster.kinds[at(key.kinds[k])].type;
    return read_probe(m, played->made, played->simulations[k], parts, key, device, options);
  };
  Result<Probe> out = read(0);
  for (std::size_t k = 1; out.ok() && k < played->simulations.size(); ++k) {
    const Result<Probe> other = read(k);
    if (!other.ok()) return other;
    take_larger(out->everywhere, other->everywhere);
    for (std::size_t i = 0; i < out->layers.size(); ++i) take_larger(out->layers[i], other->layers[i]);
  }
  return out;
}

// Whether the whole model takes the same, told from some layers and from one more: of those that are left out, and of memory, by
// what one more changes, so many times; that others take a little more beside others is felt once.
bool alike(const Probe& some, const Probe& more, const ProbeModels::Few& few, int times) {
  const auto same = [](std::int64_t x, std::int64_t y, int of) {
    return of * static_cast<double>(std::abs(x - y)) <= kSame * static_cast<double>(std::max(x, y));
  };
  const std::vector<int>& like = few.model.like;
  LayerCost a, b;  // times, and what is kept: of all; at work: the most of any
  for (std::size_t i = 0; i < like.size(); ++i) {
    const LayerCost &x = some.layers[i], &y = more.layers[i];
    const bool stands_for_others = std::count(like.begin(), like.end(), like[i]) > 1;
    if (stands_for_others && !same(x.forward_ns + x.backward_ns, y.forward_ns + y.backward_ns, times)) return false;
    for (const auto& [sum, of] : {std::pair(&a, &x), std::pair(&b, &y)}) {
      sum->forward_ns += of->forward_ns;
      sum->backward_ns += of->backward_ns;
      sum->kept_bytes += of->kept_bytes;
      sum->working_bytes = std::max(sum->working_bytes, of->working_bytes);
    }
  }
  return same(a.forward_ns, b.forward_ns, 1) && same(a.backward_ns, b.backward_ns, 1) &&
         same(a.kept_bytes, b.kept_bytes, times) && same(a.working_bytes, b.working_bytes, times);
}

// Of the whole model.
Probe spread(Probe p, const std::vector<int>& like) {
  std::vector<LayerCost> all;
  for (const int i : like) all.push_back(p.layers[at(i)]);
  p.layers = std::move(all);
  // Layers that are left out share nothing: of those that stand for them, the nearest.
  for (Tied& t : p.tied) {
    t.layer = static_cast<int>(std::find(like.begin(), like.end(), t.layer) - like.begin());
    t.before = static_cast<int>(like.rend() - std::find(like.rbegin(), like.rend(), t.before)) - 1;
  }
  return p;
}

}  // namespace

ProbeModels::ProbeModels(const Graph& graph, const ModelShape& shape, bool all) : graph_(graph), shape_(shape) {
  if (all) return;
  const std::vector<LayerRun> runs = equal_layers(graph, shape);
  many_ = shortened(graph, shape, runs, kMany, kWorthwhileOfMany);
  some_ = shortened(graph, shape, runs, kSome, kWorthwhile);
  if (some_) fewest_ = shortened(graph, shape, runs, kFewest, kWorthwhile);
}

ProbeModels::Layers ProbeModels::all() const {
  static const std::vector<int> same;
  return {graph_, shape_, same};
}

bool ProbeModels::suffice(const std::vector<std::string>& lines) const {
  return fewest_.has_value() && !names_layers(lines);
}

Result<Probe> probe(const ProbeModels& models, const Cluster& cluster, const ProbeKey& key,
                    const SimulationOptions& options, MaterializeCache& cache) {
  const std::optional<ProbeModels::Few>& few = key.data > 1 ? models.many() : models.some();
  if (!few || !models.suffice(key.splits)) return probe_of(models.all(), cluster, key, options, cache);
  const auto of = [&](const FewerLayers& some) {
    Result<Probe> out = probe_of({some.graph, some.shape, some.like}, cluster, key, options, cache);
    return out.ok() ? Result<Probe>(spread(std::move(*out), some.like)) : out;
  };
  std::vector<std::future<Result<Probe>>> longer;
  for (const ProbeModels::Longer& l : few->longer)
    if (key.data > 1) longer.push_back(std::async(std::launch::async, of, std::cref(l.model)));
  Result<Probe> out = of(few->model);
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const Result<Probe> more = longer[i].get();
    if (!out.ok() || !more.ok() || !alike(*out, *more, *few, few->longer[i].times))
      out = error("layers take something else beside others");
  }
  return out.ok() || longer.empty() ? out : probe_of(models.all(), cluster, key, options, cache);
}

Result<std::int64_t> micro_batch_ns(const ProbeModels& models, const Cluster& cluster, const ProbeKey& key,
                                    const SimulationOptions& options, MaterializeCache& cache, bool borders) {
  if (!models.suffice(key.splits)) return micro_batch_of(models.all(), cluster, key, options, cache, borders);
  const ProbeModels::Few& few = *models.fewest();
  std::vector<std::future<Result<std::int64_t>>> longer;
  for (const ProbeModels::Longer& l : few.longer)
    longer.push_back(std::async(std::launch::async, [&] {
      return micro_batch_of({l.model.graph, l.model.shape, l.model.like}, cluster, key, options, cache, borders);
    }));
  Result<std::int64_t> out = micro_batch_of(few.layers(), cluster, key, options, cache, borders);
  const std::int64_t base = out.value.value_or(0);
  for (std::size_t i = 0; i < longer.size(); ++i) {
    const Result<std::int64_t> more = longer[i].get();
    if (!more.ok()) out = more;
    if (out.ok()) *out.value += few.longer[i].times * (*more - base);
  }
  return out;
}

}  // namespace planscope::stages
