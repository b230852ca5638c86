#include "planner/search/stages/judge.h"

#include <utility>

#include "engine/program/stored.h"
#include "planner/evaluate/evaluate.h"

namespace planscope::stages {

std::vector<constraint::Peak> peaks_of(const Program& program, const Simulation& s) {
  std::vector<constraint::Peak> out;
  for (std::size_t c = 0; c < s.classes.size(); ++c)
    out.push_back({devices(program, program.classes[c]), s.classes[c].peak.bytes()});
  return out;
}

constraint::Judge make_judge(const Graph& graph, const Cluster& cluster, const SimulationOptions& simulation,
                             MaterializeCache& cache) {
  constraint::Judge out;
  out.inputs = model_settings(graph);
  out.model = [&](const plan::InputSizes& sizes) -> Result<std::shared_ptr<const plan::ModelInfo>> {
    const auto sized = cache.at(graph, sizes);
    if (!sized.ok()) return sized.diagnostics;
    return std::shared_ptr<const plan::ModelInfo>(*sized, &(*sized.value)->info);
  };
  out.evaluate = [&](const plan::Plan& p) -> Result<constraint::Evaluation> {
    const Result<planscope::Evaluation> e = planscope::evaluate(graph, p, cluster, cache, simulation);
    if (!e.ok()) return e.diagnostics;
    return constraint::Evaluation{e->simulation.step_us(), peaks_of(e->made.program, e->simulation)};
  };
  out.least_stored = [&](const plan::Decisions& open) {
    std::vector<constraint::Peak> peaks;
    for (Stored& s : least_stored(graph, open, simulation.optimizer_state_bytes))
      peaks.push_back({std::move(s.devices), s.bytes});
    return peaks;
  };
  out.device_count = cluster.device_count();
  return out;
}

}  // namespace planscope::stages
