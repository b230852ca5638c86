#include "planner/search/stages/probe.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::stages {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The layer that a module belongs to: by its list and number; -1: none.
int layer_of(const ModelShape& m, const std::string& module) {
  int first = 0;
  for (std::size_t l = 0; l < m.layers.size(); ++l) {
    const std::string prefix = m.layers[l] + ".";
    if (module.starts_with(prefix)) return first + std::atoi(module.c_str() + prefix.size());
    first += m.units[l];
  }
  return -1;
}

// Where each layer's forward and backward of the second micro-batch begin and end.
struct Borders {
  std::vector<Nanoseconds> forward, backward;  // starts, by layer
  Nanoseconds begin = -1, end = -1;
  Nanoseconds ahead = 0;  // work of it that ran before
  bool complete() const {
    const auto known = [](Nanoseconds t) { return t >= 0; };
    return begin >= 0 && std::all_of(forward.begin(), forward.end(), known) &&
           std::all_of(backward.begin(), backward.end(), known);
  }
};

Borders borders_of(const ModelShape& m, const Program& program, const ClassTimeline& timeline) {
  const auto layers = at(m.unit_count());
  Borders out{std::vector<Nanoseconds>(layers, -1), std::vector<Nanoseconds>(layers, -1)};
  for (const SlotBlock& s : timeline.slots)
    if (!program.segments[at(s.segment)].free_axes.empty() && s.index == 0) out.begin = std::max(out.begin, s.end);
  for (const SlotBlock& s : timeline.slots) {
    const Segment& segment = program.segments[at(s.segment)];
    if (segment.free_axes.empty() || s.index != 1) continue;
    if (s.end <= out.begin) out.ahead += s.end - s.start;
    out.end = std::max(out.end, s.end);
    // `f(model.layers[3])`
    const std::size_t open = segment.name.find('('), bracket = segment.name.rfind('[');
    if (open == std::string::npos || bracket == std::string::npos || bracket < open) continue;
    const std::string unit = segment.name.substr(open + 1, bracket - open - 1) + "." + segment.name.substr(bracket + 1);
    const int layer = layer_of(m, unit);
    if (layer < 0 || layer >= static_cast<int>(layers)) continue;
    auto& starts = segment.name.starts_with("f(") ? out.forward : out.backward;
    if (segment.name.starts_with("f(") || segment.name.starts_with("b("))
      if (starts[at(layer)] < 0) starts[at(layer)] = s.start;
  }
  return out;
}

class MemoryAt {
 public:
  explicit MemoryAt(const std::vector<MemoryPoint>& points) : points_(points) {}
  // Just before a moment.
  std::int64_t before(Nanoseconds t) const {
    auto p = std::lower_bound(points_.begin(), points_.end(), t,
                              [](const MemoryPoint& m, Nanoseconds moment) { return m.time < moment; });
    return p == points_.begin() ? 0 : std::prev(p)->bytes;
  }
  std::int64_t peak(Nanoseconds from, Nanoseconds to) const {
    std::int64_t most = before(from);
    for (auto p = std::lower_bound(points_.begin(), points_.end(), from,
                                   [](const MemoryPoint& m, Nanoseconds moment) { return m.time < moment; });
         p != points_.end() && p->time < to; ++p)
      most = std::max(most, p->bytes);
    return most;
  }

 private:
  const std::vector<MemoryPoint>& points_;
};

void add_parameters(const Graph& g, const ModelShape& m, const Program& program, Probe& out) {
  std::vector<int> layer(g.tensors.size(), -2);
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    for (const Operand& in : g.ops[at(o)].inputs) {
      const TensorId t = in.tensor;
      if (t < 0 || layer[at(t)] != -2) continue;
      layer[at(t)] = layer_of(m, g.node(o).module);
      if (layer[at(t)] < 0) layer[at(t)] = -1;
    }
  const int last = m.unit_count() - 1;
  bool inside = false;  // parameters that are read before the first layer belong to it, those behind to the last
  std::vector<bool> early(g.tensors.size(), false);
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    inside = inside || layer_of(m, g.node(o).module) >= 0;
    for (const Operand& in : g.ops[at(o)].inputs)
      if (in.tensor >= 0 && !inside) early[at(in.tensor)] = true;
  }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    const ProgramValue& value = program.values[v];
    if (value.role != Role::home) continue;
    const int l = layer[at(value.tensor)];
    LayerCost& cost = out.layers[at(l >= 0 ? l : early[at(value.tensor)] ? 0 : last)];
    const std::int64_t bytes = value_bytes(g, program, static_cast<ProgramValueId>(v)).count;
    const std::int64_t element =
        std::max<std::int64_t>(1, g.bytes(value.tensor) / std::max<std::int64_t>(1, g.elements(value.tensor)));
    cost.parameter_bytes += bytes;
    cost.parameters += bytes / element;
  }
}

struct Played {
  Materialized made;
  Simulation simulation;
};

Result<Played> play(const Graph& graph, const Cluster& cluster, const std::string& text,
                    const SimulationOptions& options, MaterializeCache& cache) {
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return plan.diagnostics;
  Result<Materialized> made = materialize(graph, *plan, cluster, {}, &cache);
  if (!made.ok()) return made.diagnostics;
  Result<Simulation> simulated = simulate(*made->graph, made->program, cluster, options);
  if (!simulated.ok()) return simulated.diagnostics;
  return Played{std::move(*made), std::move(*simulated)};
}

bool computes(const Program& program, const SlotBlock& s) {
  const Phase phase = program.segments[at(s.segment)].phase;
  return phase == Phase::forward || phase == Phase::backward;
}

}  // namespace

Result<Probe> probe(const Graph& graph, const ModelShape& m, const Cluster& cluster, const ProbeKey& key,
                    const SimulationOptions& options, MaterializeCache& cache) {
  const Result<Played> played = play(graph, cluster, probe_script(m, key), options, cache);
  if (!played.ok()) return played.diagnostics;
  const Materialized* const made = &played->made;
  const Simulation* const simulated = &played->simulation;
  if (simulated->classes.size() != 1) return error("the layers do not run on one group of devices");
  const ClassTimeline& timeline = simulated->classes[0];
  const Borders b = borders_of(m, made->program, timeline);
  if (!b.complete()) return error("the layers do not run one after the other");
  const MemoryAt memory(timeline.memory);
  Probe out;
  const int layers = m.unit_count();
  out.layers.resize(at(layers));
  for (int i = 0; i < layers; ++i) {
    LayerCost& c = out.layers[at(i)];
    const Nanoseconds from = i == 0 ? b.begin : b.forward[at(i)];
    const Nanoseconds to = i + 1 == layers ? b.backward[at(i)] : b.forward[at(i + 1)];
    const Nanoseconds back = b.backward[at(i)], done = i == 0 ? b.end : b.backward[at(i - 1)];
    c.forward_ns = to - from + (i == 0 ? b.ahead : 0);
    c.backward_ns = done - back;
    c.kept_bytes = std::max<std::int64_t>(0, memory.before(to) - memory.before(from));
    c.working_bytes = std::max(
        {std::int64_t{0}, memory.peak(from, to) - memory.before(to), memory.peak(back, done) - memory.before(back)});
  }
  add_parameters(*made->graph, m, made->program, out);
  return out;
}

Result<std::int64_t> micro_batch_ns(const Graph& graph, const ModelShape& m, const Cluster& cluster,
                                    const ProbeKey& key, const SimulationOptions& options, MaterializeCache& cache) {
  const auto played = [&](std::int64_t micro_batches) {
    return play(graph, cluster, whole_script(m, key, micro_batches), options, cache);
  };
  const Result<Played> first = played(key.only ? 1 : 2);
  if (!first.ok()) return first.diagnostics;
  if (key.only) {
    Nanoseconds end = 0;
    for (const SlotBlock& s : first->simulation.classes[0].slots)
      if (computes(first->made.program, s)) end = std::max(end, s.end);
    return end;
  }
  const Result<Played> second = played(3);
  if (!second.ok()) return second.diagnostics;
  return second->simulation.step_ns - first->simulation.step_ns;
}

}  // namespace planscope::stages
