#include "app/workbench/error_band.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/workbench/profiling.h"
#include "engine/base/format.h"

namespace planscope {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kLeastRuns = 3;
constexpr FigureSource sources[] = {FigureSource::measured, FigureSource::interpolated, FigureSource::modelled};

std::array<double, 3> shares_of(const Simulation& s) {
  std::array<double, 3> out{};
  double all = 0;
  for (const ClassTimeline& c : s.classes) {
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double time = static_cast<double>(c.sources[k]) * static_cast<double>(c.devices);
      out[k] += time;
      all += time;
    }
  }
  for (double& share : out) share = all > 0 ? share / all : 0;
  return out;
}

// Measured / predicted of a run's result; empty: it says nothing about such predictions.
std::optional<double> ratio_of(const std::string& result, const std::string& device, std::string_view origin) {
  const Json json = Json::parse(result, nullptr, false);
  if (!json.is_object() || json.value("device", "") != device || json.value("origin", "") != origin)
    return std::nullopt;
  const auto steps = json.find("step_us"), predicted = json.find("predicted_step_us");
  if (steps == json.end() || !steps->is_array() || predicted == json.end() || !predicted->is_number())
    return std::nullopt;
  std::vector<double> times;
  for (const Json& s : *steps)
    if (s.is_number()) times.push_back(s.get<double>());
  if (times.empty() || predicted->get<double>() <= 0) return std::nullopt;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / predicted->get<double>();
}

}  // namespace

StepFigure step_figure(const Simulation& simulation, const Workspace* workspace, const Cluster& cluster,
                       std::vector<Diagnostic>& diagnostics) {
  StepFigure out;
  out.shares = shares_of(simulation);
  for (const FigureSource s : sources)
    if (out.shares[static_cast<std::size_t>(s)] > out.shares[static_cast<std::size_t>(out.origin)]) out.origin = s;
  if (!workspace) return out;
  const Result<std::vector<RunRow>> runs = workspace->runs();
  diagnostics.insert(diagnostics.end(), runs.diagnostics.begin(), runs.diagnostics.end());
  if (!runs.value) return out;
  const std::string device = profiled_device(cluster);
  std::vector<double> ratios;
  for (const RunRow& run : *runs)
    if (run.status == RunStatus::done)
      if (const auto ratio = ratio_of(run.result, device, to_string(out.origin))) ratios.push_back(*ratio);
  if (ratios.size() < kLeastRuns) return out;
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  out.band = {*low * simulation.step_us(), *high * simulation.step_us(), static_cast<int>(ratios.size())};
  return out;
}

std::string to_string(const StepFigure& f) {
  constexpr double all = 0.995;
  const double share = f.shares[static_cast<std::size_t>(f.origin)];
  char text[32] = "";
  if (share < all) std::snprintf(text, sizeof text, " by %.0f %%", 100 * share);
  std::string out = std::string(to_string(f.origin)) + text;
  if (!f.band) return out + ", error unknown";
  return out + ", " + time_text(f.band->low_us) + " to " + time_text(f.band->high_us) + " as in " +
         std::to_string(f.band->runs) + " runs";
}

std::string to_json(const StepFigure& f) {
  Json shares = Json::object();
  for (const FigureSource s : sources) shares[std::string(to_string(s))] = f.shares[static_cast<std::size_t>(s)];
  return Json{{"sources", shares},
              {"origin", std::string(to_string(f.origin))},
              {"band", f.band ? Json{{"low_us", f.band->low_us}, {"high_us", f.band->high_us}, {"runs", f.band->runs}}
                              : Json()}}
      .dump();
}

}  // namespace planscope
