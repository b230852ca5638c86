#pragma once
// Where a predicted step comes from, and how far off such predictions have been.
//
// The origin is that of most of the compute time of all device classes. The band is the prediction times the smallest and
// the largest of measured / predicted (the median step of a run) over the runs of the workspace that ended well, on the
// same device, with predictions of the same origin. Fewer than three such runs give none: nothing is assumed.
//
//   const StepFigure f = step_figure(simulation, workspace, cluster, diagnostics);
//   f.origin; f.band->low_us; f.band->high_us; f.band->runs
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "planner/simulate/simulate.h"
#include "storage/workspace.h"

namespace planscope {

struct ErrorBand {
  double low_us = 0, high_us = 0;
  int runs = 0;  // that it is from
  bool operator==(const ErrorBand&) const = default;
};

struct StepFigure {
  std::array<double, 3> shares{};  // of compute time, by FigureSource; they sum to 1, or are 0 where nothing computes
  FigureSource origin = FigureSource::modelled;
  std::optional<ErrorBand> band;
};

StepFigure step_figure(const Simulation&, const Workspace*, const Cluster&, std::vector<Diagnostic>&);

// `measured by 91 %, 2.10 ms to 2.90 ms as in 4 runs`; `modelled, error unknown`
std::string to_string(const StepFigure&);
// The same as JSON text: `{"sources": {"measured": …}, "origin": …, "band": {"low_us", "high_us", "runs"} or null}`.
std::string to_json(const StepFigure&);

}  // namespace planscope
