#include "planner/search/stages/found_splits.h"

#include <algorithm>
#include <optional>

#include "engine/base/text.h"
#include "planner/search/splits/choose.h"

namespace planscope::stages {
namespace {

constexpr double kWorthwhile =
    0.98;  // of the template's cost: what is found has to be below that to be tried beside it

// Choices for a model, and what they cost: of a few of its layers, more of each as often as they stand for (ProbeModels).
struct Choices {
  std::vector<splits::Chooser> choosers;
  std::vector<double> weights;

  bool add(const Graph& graph, const ModelShape& shape, std::int64_t micro_batch, const Cluster& cluster,
           const splits::LayoutSpec& spec, double weight) {
    const Result<Graph> one = resize(graph, {{shape.batch, micro_batch}});
    if (!one.ok()) return false;
    Result<splits::Chooser> chooser = splits::Chooser::make(*one, cluster, spec);
    if (!chooser.ok()) return false;
    choosers.push_back(std::move(*chooser.value));
    weights.push_back(weight);
    return true;
  }
  // Clearly better ones than the usual: those found, or those known before, if they still are; none: there are no such.
  std::vector<std::string> better(const std::string& usual, const std::vector<std::string>& known) {
    const std::string before = join(known, "\n") + "\n";
    const std::optional<double> most = sum([&](splits::Chooser& c) { return c.cost_of(usual); });
    const std::optional<double> again =
        known.empty() ? std::nullopt : sum([&](splits::Chooser& c) { return c.cost_of(before); });
    const bool reused = again && (!most || *again < *most * kWorthwhile);
    const std::vector<std::string> others = reused ? known : std::vector<std::string>{};
    if (const std::optional<double> limit = reused ? again : most) {
      const std::optional<double> least = sum([](splits::Chooser& c) -> Result<double> {
        const Result<splits::GraphLayout> found = c.cheapest();
        return found.ok() ? Result<double>(found->cost_us) : found.diagnostics;
      });
      if (!least || *least >= *limit * kWorthwhile) return others;
    }
    Result<splits::GraphLayout> found = choosers[0].choose();
    return found.ok() ? std::move(found->statements) : others;
  }

 private:
  template <class Cost>
  std::optional<double> sum(const Cost& cost) {
    double out = 0;
    for (std::size_t i = 0; i < choosers.size(); ++i) {
      const Result<double> c = cost(choosers[i]);
      if (!c.ok()) return std::nullopt;
      out += weights[i] * *c;
    }
    return out;
  }
};

}  // namespace

FoundSplits::FoundSplits(const Graph& graph, const ProbeModels& models, const Cluster& cluster, const ModelShape& shape,
                         const Settings& settings, const Deadline& deadline, std::int64_t devices, std::int64_t tensor)
    : graph_(graph),
      models_(models),
      cluster_(cluster),
      shape_(shape),
      settings_(settings),
      deadline_(deadline),
      devices_(devices),
      tensor_(tensor) {}

std::vector<std::string> FoundSplits::at(std::int64_t micro_batch) {
  if (tensor_ == 1 || shape_.batch_size % micro_batch != 0 || deadline_.over()) return last_;
  splits::LayoutSpec spec{.axes = {{"tensor", tensor_}}};
  spec.micro_batches = std::max<std::int64_t>(1, shape_.batch_size * tensor_ / devices_ / micro_batch);
  spec.optimizer_state_bytes = settings_.simulation.optimizer_state_bytes;
  spec.costs = settings_.simulation.costs;
  spec.ended = spec.abandoned = [this] { return deadline_.over(); };
  const std::string usual = "let L = " + shape_.selection() + "\n" + tensor_lines(shape_, tensor_, shape_.sequence);
  const auto add = [&](Choices& c, const Graph& graph, double weight) {
    return c.add(graph, shape_, micro_batch, cluster_, spec, weight);
  };
  const auto keep = [&](const std::vector<std::string>& lines) {
    if (!lines.empty()) last_ = lines;
    return lines;
  };
  if (models_.suffice(last_)) {
    Choices few;
    bool made = add(few, models_.some()->model.graph, 1);
    for (const ProbeModels::Longer& l : models_.some()->longer) {
      made = made && add(few, l.model.graph, l.times);
      if (made) few.weights[0] -= l.times;
    }
    if (!made) return {};
    const std::vector<std::string> lines = few.better(usual, last_);
    if (models_.suffice(lines)) return keep(lines);
  }
  if (deadline_.over()) return {};
  Choices whole;
  return add(whole, graph_, 1) ? keep(whole.better(usual, last_)) : std::vector<std::string>{};
}

}  // namespace planscope::stages
