#include "planner/simulate/simulate.h"

#include <algorithm>
#include <numeric>

#include "engine/base/format.h"
#include "planner/simulate/alone.h"
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
  constexpr std::array<std::string_view, 6> names = {"compute",  "collective", "network",
                                                     "transfer", "offload",    "restore"};
  return names[static_cast<std::size_t>(s)];
}

std::int64_t Memory::bytes() const { return std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0}); }

double Simulation::bubble() const {
  double idle = 0, all = 0;
  for (const ClassTimeline& c : classes) {
    idle += static_cast<double>(c.devices) * static_cast<double>(c.idle.sum() - c.idle.communication - c.idle.memory);
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

namespace {

// The class that needs most, of device and of host memory.
void warn_of_memory(const Program& program, const Cluster& cluster, const Simulation& s,
                    std::vector<Diagnostic>& diagnostics) {
  const auto warn = [&](Bytes has, std::string_view of, std::string hint, auto&& need) {
    std::size_t most = 0;
    for (std::size_t c = 1; c < s.classes.size(); ++c)
      if (need(s.classes[c]) > need(s.classes[most])) most = c;
    if (has.count <= 0 || s.classes.empty() || need(s.classes[most]) <= has.count) return;
    diagnostics.push_back(warning("a device of " + program.classes[most].name + " needs " +
                                      bytes_text(static_cast<double>(need(s.classes[most]))) + " of " +
                                      std::string(of) + "; " + cluster.name + " has " +
                                      bytes_text(static_cast<double>(has.count)),
                                  {}, std::move(hint)));
  };
  warn(cluster.device.memory, "device memory", "split more, recompute, offload, or use fewer micro-batches at a time",
       [](const ClassTimeline& t) { return t.peak.bytes(); });
  warn(cluster.host.memory, "host memory", "offload less", [](const ClassTimeline& t) { return t.host_peak.count; });
}

}  // namespace

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
  Result<Simulation> out = attribute_idle(std::move(*played));
  out->segment_ns = times_alone(steps);
  warn_of_memory(program, cluster, *out.value, out.diagnostics);
  return out;
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
  if (block.instruction < 0) return std::string(to_string(block.stream)) + "s of " + label(program, slot);
  const Instruction& i = program.segments[static_cast<std::size_t>(slot.segment)]
                             .instructions[static_cast<std::size_t>(block.instruction)];
  return std::string(i.code == Code::issue ? to_string(i.move.kind) : to_string(i.code));
}

}  // namespace planscope
