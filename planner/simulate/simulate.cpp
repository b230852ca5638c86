#include "planner/simulate/simulate.h"

#include <algorithm>
#include <numeric>

#include "planner/simulate/events.h"
#include "planner/simulate/idle.h"
#include "planner/simulate/steps.h"

namespace planscope {

std::string_view to_string(MemoryKind k) {
  constexpr std::array<std::string_view, kMemoryKinds> names = {"weights", "optimizer", "gradients", "activations",
                                                                "communication"};
  return names[static_cast<std::size_t>(k)];
}

std::string_view to_string(Stream s) {
  return s == Stream::compute ? "compute" : s == Stream::collective ? "collective" : "transfer";
}

std::int64_t Memory::bytes() const { return std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}); }

double Simulation::bubble() const {
  double idle = 0, all = 0;
  for (const ClassTimeline& c : classes) {
    idle += static_cast<double>(c.devices) * static_cast<double>(c.idle.sum() - c.idle.communication);
    all += static_cast<double>(c.devices) * static_cast<double>(step_ns);
  }
  return all > 0 ? idle / all : 0;
}

std::vector<Traffic> Simulation::traffic() const {
  std::vector<Traffic> out;
  for (const ClassTimeline& c : classes)
    for (const Traffic& t : c.traffic) {
      const auto found = std::find_if(out.begin(), out.end(),
                                      [&](const Traffic& o) { return o.kind == t.kind && o.group == t.group; });
      if (found == out.end()) {
        out.push_back(t);
        continue;
      }
      found->count += t.count;
      found->payload += t.payload;
      found->sent += t.sent;
    }
  return out;
}

Result<Simulation> simulate(const Graph& graph, const Program& program, const Cluster& cluster,
                            const SimulationOptions& options) {
  if (program.device_count > cluster.device_count())
    return error("the plan is for " + std::to_string(program.device_count) + " devices, the cluster has " +
                     std::to_string(cluster.device_count()),
                 {}, "choose a larger cluster");
  Parties parties(program);
  const Steps steps = make_steps(graph, program, cluster, options, parties);
  Result<Played> played = play(program, steps, options);
  if (!played.value) return played.diagnostics;
  return attribute_idle(std::move(*played));
}

std::vector<std::int64_t> index_of(const Program& program, const SlotBlock& block) {
  const std::vector<AxisId>& axes = program.segments[static_cast<std::size_t>(block.segment)].free_axes;
  std::vector<std::int64_t> index(axes.size());
  std::int64_t rest = block.index;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const std::int64_t size = program.axes[static_cast<std::size_t>(axes[k])].size;
    index[k] = rest % size;
    rest /= size;
  }
  return index;
}

std::string label(const Program& program, const SlotBlock& block) {
  std::string text = program.segments[static_cast<std::size_t>(block.segment)].name;
  if (block.ahead > 0) text += "[step+" + std::to_string(block.ahead) + "]";
  for (std::int64_t i : index_of(program, block)) text += "[" + std::to_string(i) + "]";
  return text;
}

std::string label(const Program& program, const ClassTimeline& timeline, const InstructionBlock& block) {
  const SlotBlock& slot = timeline.slots[static_cast<std::size_t>(block.slot)];
  const Instruction& i = program.segments[static_cast<std::size_t>(slot.segment)]
                             .instructions[static_cast<std::size_t>(block.instruction)];
  return std::string(i.code == Code::issue ? to_string(i.move.kind) : to_string(i.code));
}

}  // namespace planscope
