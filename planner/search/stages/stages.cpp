#include "planner/search/stages/stages.h"

#include <algorithm>
#include <map>

#include "engine/plan/parser.h"
#include "planner/search/splits/choose.h"
#include "planner/search/stages/partition.h"
#include "planner/search/stages/probe.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {
namespace {

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 1; i <= n; ++i)
    if (n % i == 0) out.push_back(i);
  return out;
}

// A point of the space, without the cut.
struct Point {
  Configuration configuration;
  double bound_us = 0;
};

class Search {
 public:
  Search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Accept& accept)
      : graph_(graph), cluster_(cluster), settings_(settings), accept_(accept), deadline_(settings.seconds, settings.stop) {}

  Result<Found> run() {
    const auto sized = cache_.at(graph_, {});
    if (!sized.ok()) return sized.diagnostics;
    shape_ = model_shape((*sized.value)->info);
    if (shape_.batch.empty()) return error("the model has no input dimension 'batch' to split");
    if (settings_.global_batch > 0) shape_.batch_size = settings_.global_batch;
    std::vector<Point> points = all_points();
    found_.points = static_cast<std::int64_t>(points.size());
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.bound_us < b.bound_us; });
    double open = -1;  // the least bound of what was not made
    for (const Point& p : points) {
      if (!found_.best.empty() && p.bound_us >= found_.best[0].step_us) break;
      if (deadline_.expired()) {
        found_.ended_early = true;
        open = p.bound_us;
        break;
      }
      make(p);
    }
    return finish(points, open);
  }

 private:
  // ---- the space

  std::vector<Point> all_points() {
    std::vector<Point> out;
    const std::int64_t n = cluster_.device_count(), node = cluster_.devices_per_unit(0);
    const int layers = shape_.unit_count();
    for (std::int64_t tensor : divisors(n)) {
      if (tensor > node || (tensor > 1 && layers == 0)) continue;
      for (std::int64_t pipe : divisors(n / tensor)) {
        const std::int64_t data = n / tensor / pipe;
        if (pipe > std::max(1, layers) || shape_.batch_size % data != 0) continue;
        for (std::int64_t micro_batch : divisors(shape_.batch_size / data))
          for (int zero : {0, 1, 3}) {
            if (deadline_.expired()) return out;
            const Configuration c{pipe, data, tensor, shape_.batch_size / data / micro_batch, micro_batch,
                                  tensor > 1 && shape_.sequence, zero, {}, {}, {}};
            add_point(out, c);
            add_found(out, c);
          }
      }
    }
    return out;
  }

  // The same with found splits, where they promise more than the template.
  void add_found(std::vector<Point>& out, Configuration c) {
    if (c.tensor == 1 || (c.micro_batch > kLargestMicroBatch && c.micro_batches > 1)) return;
    const auto [known, fresh] = found_splits_.try_emplace({c.tensor, c.micro_batch});
    if (fresh) known->second = find_splits(c);
    c.splits = known->second;
    c.sequence = false;
    if (!c.splits.empty()) add_point(out, std::move(c));
  }

  std::vector<std::string> find_splits(const Configuration& c) const {
    const Result<Graph> one = resize(graph_, {{shape_.batch, c.micro_batch}});
    if (!one.ok()) return {};
    splits::LayoutSpec spec{.axes = {{"tensor", c.tensor}}};
    spec.micro_batches = std::max<std::int64_t>(1, shape_.batch_size * c.tensor / cluster_.device_count() / c.micro_batch);
    spec.optimizer_state_bytes = settings_.simulation.optimizer_state_bytes;
    spec.costs = settings_.simulation.costs;
    spec.ended = [this] { return deadline_.expired(); };
    const Result<double> usual = splits::cost_of_lines(
        *one, cluster_, spec, "let L = " + shape_.selection() + "\n" + tensor_lines(shape_, c.tensor, c.sequence));
    if (usual.ok()) spec.below_us = *usual * kWorthwhile;
    const Result<splits::GraphLayout> found = splits::choose_layouts(*one, cluster_, spec);
    return found.ok() && found->written ? found->statements : std::vector<std::string>{};
  }

  void add_point(std::vector<Point>& out, Configuration c) {
    if (c.zero > 0 && c.data == 1) return;
    // Parameters gathered anew for every micro-batch of every stage: only where there is one stage.
    if (c.zero == 3 && c.pipe > 1) return;
    if (c.pipe > 1 && c.micro_batches == 1) return;
    if (c.micro_batch > kLargestMicroBatch && c.micro_batches > 1) return;
    if (shape_.unit_count() == 0) {
      out.push_back({c, 0});
      return;
    }
    const std::optional<std::vector<Layer>> layers = costs(c);
    if (!layers) return;
    const std::optional<Partition> cut =
        partition(*layers, {static_cast<int>(c.pipe), c.micro_batches, cluster_.device.memory.count});
    if (!cut) return;
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    out.push_back({std::move(c), static_cast<double>(cut->step_ns) / 1000});
  }

  const Probe* probe_of(const ProbeKey& key) {
    const auto found = probes_.find(key);
    if (found != probes_.end()) return found->second ? &*found->second : nullptr;
    Result<Probe> p = probe(graph_, shape_, cluster_, key, settings_.simulation, cache_);
    if (!p.ok() && first_refusal_.empty()) first_refusal_ = p.diagnostics;
    auto& kept = probes_[key];
    if (p.ok()) kept = std::move(*p.value);
    return kept ? &*kept : nullptr;
  }

  std::optional<std::vector<Layer>> costs(const Configuration& c) {
    const Probe* once = probe_of({c.tensor, c.micro_batch, c.sequence, false, c.splits});
    const Probe* again = once ? probe_of({c.tensor, c.micro_batch, c.sequence, true, c.splits}) : nullptr;
    if (!again) return std::nullopt;
    std::vector<Layer> out;
    for (std::size_t i = 0; i < once->layers.size(); ++i) {
      const LayerCost &a = once->layers[i], &b = again->layers[i];
      Layer l;
      l.time_ns = a.forward_ns + a.backward_ns;
      l.again_ns = std::max<std::int64_t>(0, b.forward_ns + b.backward_ns - l.time_ns);
      l.kept = a.kept_bytes;
      l.kept_again = b.kept_bytes;
      l.working = a.working_bytes;
      l.working_again = b.working_bytes;
      l.state = state_bytes(a, c);
      out.push_back(l);
    }
    return out;
  }

  // Parameters, gradients and the optimizer's state, as ZeRO splits them; with one micro-batch gradients come and go.
  std::int64_t state_bytes(const LayerCost& l, const Configuration& c) const {
    const std::int64_t optimizer = settings_.simulation.optimizer_state_bytes * l.parameters;
    const std::int64_t split = c.zero > 0 ? c.data : 1;
    const std::int64_t whole = c.zero == 3 ? 0 : l.parameter_bytes;        // the copy that is used
    const std::int64_t home = c.zero > 0 ? l.parameter_bytes / split : 0;  // the one that is kept
    const std::int64_t gradient = c.micro_batches == 1 ? 0 : c.zero == 3 ? l.parameter_bytes / split : l.parameter_bytes;
    return whole + home + gradient + optimizer / split;
  }

  // ---- candidates

  void make(const Point& point) {
    Configuration c = point.configuration;
    // What the estimate leaves out of memory shows in the prediction: then more is computed again, as long as that helps.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::string text = script(shape_, c);
      const Result<plan::Plan> plan = plan::parse_plan(text, "");
      if (!plan.ok()) return refuse(plan.diagnostics);
      const Result<Materialized> made = materialize(graph_, *plan, cluster_, {}, &cache_);
      if (!made.ok()) return refuse(made.diagnostics);
      const Result<Simulation> simulated = simulate(*made->graph, made->program, cluster_, settings_.simulation);
      if (!simulated.ok()) return refuse(simulated.diagnostics);
      ++found_.simulated;
      std::int64_t most = 0;
      Candidate candidate{c, text, simulated->step_us(), point.bound_us, {}};
      for (const ClassTimeline& t : simulated->classes) {
        candidate.peak_bytes.push_back(t.peak.bytes());
        most = std::max(most, t.peak.bytes());
      }
      const std::int64_t excess = most - cluster_.device.memory.count;
      if (excess > 0) {
        least_excess_ = least_excess_ < 0 ? excess : std::min(least_excess_, excess);
        if (!more_again(c, excess)) return;
        continue;
      }
      if (accept_) {
        const std::vector<Diagnostic> broken = accept_(*plan, *made, *simulated);
        if (has_errors(broken)) return refuse(broken);
      }
      keep(std::move(candidate));
      return;
    }
  }

  // The same point with less memory to go by.
  bool more_again(Configuration& c, std::int64_t excess) {
    const std::optional<std::vector<Layer>> layers = costs(c);
    if (!layers) return false;
    slack_ += excess;
    const std::optional<Partition> cut = partition(
        *layers, {static_cast<int>(c.pipe), c.micro_batches, cluster_.device.memory.count - slack_});
    slack_ = 0;
    if (!cut || (cut->layers == c.stages && cut->recompute == c.recompute)) return false;
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    return true;
  }

  void refuse(const std::vector<Diagnostic>& why) {
    if (first_refusal_.empty()) first_refusal_ = why;
  }

  // One for each shape: runner-ups that differ in micro-batches alone tell nothing.
  void keep(Candidate c) {
    const auto same = [&](const Candidate& o) {
      return o.configuration.pipe == c.configuration.pipe && o.configuration.tensor == c.configuration.tensor &&
             o.configuration.zero == c.configuration.zero;
    };
    const auto known = std::find_if(found_.best.begin(), found_.best.end(), same);
    if (known != found_.best.end()) {
      if (known->step_us <= c.step_us) return;
      found_.best.erase(known);
    }
    const auto place = std::upper_bound(found_.best.begin(), found_.best.end(), c.step_us,
                                        [](double step, const Candidate& o) { return step < o.step_us; });
    found_.best.insert(place, std::move(c));
  }

  Result<Found> finish(const std::vector<Point>& points, double open) {
    if (!points.empty()) found_.lower_bound_us = points[0].bound_us;
    if (open >= 0 && found_.best.empty()) found_.reason = "the time limit";
    if (!found_.best.empty()) {
      found_.outcome = Outcome::found;
      if (found_.best.size() > static_cast<std::size_t>(1 + settings_.runners_up))
        found_.best.resize(static_cast<std::size_t>(1 + settings_.runners_up));
    } else if (!found_.ended_early && !deadline_.expired()) {
      found_.outcome = Outcome::impossible;
      found_.reason = points.empty() && !first_refusal_.empty() ? to_string(first_refusal_[0])
                      : least_excess_ > 0 ? "every plan of the space needs more memory than a device has"
                                          : "no plan of the space fits the devices' memory";
    }
    Result<Found> out = std::move(found_);
    return out;
  }

  static constexpr std::int64_t kLargestMicroBatch = 16;
  static constexpr double kWorthwhile = 0.995;  // of the template's cost: above that, found splits are not tried

  const Graph& graph_;
  const Cluster& cluster_;
  const Settings settings_;
  const Accept accept_;
  const Deadline deadline_;
  MaterializeCache cache_;
  ModelShape shape_;
  std::map<ProbeKey, std::optional<Probe>> probes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> found_splits_;  // by tensor, micro-batch
  std::vector<Diagnostic> first_refusal_;
  std::int64_t least_excess_ = -1, slack_ = 0;
  Found found_;
};

}  // namespace

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Accept& accept) {
  return Search(graph, cluster, settings, accept).run();
}

}  // namespace planscope::stages
