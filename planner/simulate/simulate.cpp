#include "planner/simulate/simulate.h"

#include <algorithm>
#include <numeric>

#include "engine/base/format.h"
#include "planner/simulate/events.h"
#include "planner/simulate/finish.h"
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

void Traffic::add(const Traffic& more, std::int64_t times) {
  const auto n = static_cast<double>(times);
  count += times * more.count;
  payload += times * more.payload;
  sent += n * more.sent;
  by_level.resize(std::max(by_level.size(), more.by_level.size()), 0);
  for (std::size_t l = 0; l < more.by_level.size(); ++l) by_level[l] += n * more.by_level[l];
  time += times * more.time;
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
      found->add(t, 1);
      found->level = std::max(found->level, t.level);
    }
  return out;
}

namespace {

// The class that lacks most, of device and of host memory.
void warn_of_memory(const Program& program, const Cluster& cluster, const Simulation& s,
                    std::vector<Diagnostic>& diagnostics) {
  const auto warn = [&](std::string_view of, std::string hint, auto&& need, auto&& has) {
    const auto more = [&](const ClassTimeline& t) { return need(t) - has(t); };
    const auto most = std::max_element(s.classes.begin(), s.classes.end(),
                                       [&](const auto& a, const auto& b) { return more(a) < more(b); });
    if (most == s.classes.end() || has(*most) <= 0 || more(*most) <= 0) return;
    diagnostics.push_back(
        warning("a device of " + program.classes[static_cast<std::size_t>(most - s.classes.begin())].name + " needs " +
                    bytes_text(static_cast<double>(need(*most))) + " of " + std::string(of) + "; " + cluster.name +
                    " has " + bytes_text(static_cast<double>(has(*most))) + (cluster.kinds.size() > 1 ? " there" : ""),
                {}, std::move(hint)));
  };
  warn(
      "device memory", "split more, recompute, offload, or use fewer micro-batches at a time",
      [](const ClassTimeline& t) { return t.peak.bytes(); }, [](const ClassTimeline& t) { return t.capacity.count; });
  warn(
      "host memory", "offload less", [](const ClassTimeline& t) { return t.host_peak.count; },
      [&](const ClassTimeline&) { return cluster.host.memory.count; });
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
  Result<Simulation> out = finished(program, cluster, steps, std::move(*played), options);
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
