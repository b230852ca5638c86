#include "planner/search/stages/stages.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/cluster/communication.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
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

// The points with tensor-parallel groups of one size, and what layers take there.
class Space {
 public:
  Space(const Graph& graph, const Cluster& cluster, const ModelShape& shape, const Settings& settings,
        const Deadline& deadline, std::int64_t size)
      : tensor(size),
        graph_(graph),
        cluster_(cluster),
        shape_(shape),
        settings_(settings),
        deadline_(deadline),
        splits_deadline_(deadline.within(settings.seconds * kSplitsShare)) {}

  void fill() {
    const std::int64_t n = cluster_.device_count();
    const int layers = shape_.unit_count();
    for (std::int64_t micro_batch : divisors(shape_.batch_size)) {
      if (micro_batch > kLargestMicroBatch) break;
      const std::size_t before = points.size();
      bool possible = false;
      const std::vector<std::string> found = find_splits(micro_batch);
      for (std::int64_t pipe : divisors(n / tensor)) {
        const std::int64_t data = n / tensor / pipe;
        if (pipe > std::max(1, layers) || shape_.batch_size % (data * micro_batch) != 0) continue;
        possible = true;
        for (int zero : {0, 1, 2, 3}) {
          if (deadline_.stopped() || settings_.seconds <= 0 || (deadline_.expired() && !points.empty())) return;
          Configuration c{pipe,        data,
                          tensor,      shape_.batch_size / data / micro_batch,
                          micro_batch, tensor > 1 && shape_.sequence,
                          zero,        {},
                          {},          !settings_.rows.empty()};
          add_point(c);
          c.splits = found;
          if (!found.empty()) add_point(std::move(c));
        }
      }
      if (possible && points.size() == before) break;  // larger micro-batches need more memory still
    }
  }

  std::optional<std::vector<Layer>> costs(const Configuration& c) {
    const bool only = c.micro_batches == 1;
    const Probe* once = probe_of({c.tensor, c.micro_batch, c.sequence, false, only, c.splits});
    const Probe* again = once ? probe_of({c.tensor, c.micro_batch, c.sequence, true, only, c.splits}) : nullptr;
    if (!again) return std::nullopt;
    const Network network = network_of(*once, c);
    std::vector<Layer> out;
    for (std::size_t i = 0; i < once->layers.size(); ++i) {
      const LayerCost &a = once->layers[i], &b = again->layers[i];
      Layer l;
      l.time_ns = static_cast<std::int64_t>(once->share * static_cast<double>(a.forward_ns + a.backward_ns));
      l.forward_ns = static_cast<std::int64_t>(once->share * static_cast<double>(a.forward_ns));
      l.again_ns = std::max<std::int64_t>(
          0, static_cast<std::int64_t>(once->share * static_cast<double>(b.forward_ns + b.backward_ns)) - l.time_ns);
      l.kept = a.kept_bytes;
      l.kept_again = b.kept_bytes;
      // Gathered parameters: its own, and those of the next layer that are on their way.
      const std::int64_t gathered =
          c.zero == 3 ? a.parameter_bytes + once->layers[std::min(i + 1, once->layers.size() - 1)].parameter_bytes : 0;
      l.working = a.working_bytes + gathered;
      l.working_again = b.working_bytes + gathered;
      l.state = state_bytes(a, c);
      l.reduce_ns = c.zero >= 2 ? 0 : share_of_network(network.reduce_ns, a, network);
      l.gather_ns = c.zero == 1 || c.zero == 2 ? share_of_network(network.gather_ns, a, network) : 0;
      out.push_back(l);
    }
    return out;
  }

  std::int64_t tensor;
  std::vector<Point> points;
  std::vector<Configuration> too_large;  // no cut of them fits
  std::vector<Diagnostic> refusal;       // the first

 private:
  // Those of a tensor-parallel group that promise more than the template: of a model that the template knows they mostly do
  // not. Lines of a smaller micro-batch are taken again where they cost nearly as little.
  std::vector<std::string> find_splits(std::int64_t micro_batch) {
    if (tensor == 1 || shape_.batch_size % micro_batch != 0 || splits_deadline_.expired()) return found_;
    const Result<Graph> one = resize(graph_, {{shape_.batch, micro_batch}});
    if (!one.ok()) return {};
    splits::LayoutSpec spec{.axes = {{"tensor", tensor}}};
    spec.micro_batches = std::max<std::int64_t>(1, shape_.batch_size * tensor / cluster_.device_count() / micro_batch);
    spec.optimizer_state_bytes = settings_.simulation.optimizer_state_bytes;
    spec.costs = settings_.simulation.costs;
    spec.ended = [this] { return splits_deadline_.expired(); };
    const auto cost = [&](const std::string& lines) { return splits::cost_of_lines(*one, cluster_, spec, lines); };
    const Result<double> usual =
        cost("let L = " + shape_.selection() + "\n" + tensor_lines(shape_, tensor, shape_.sequence));
    const Result<double> again = found_.empty() ? usual : cost(join(found_, "\n") + "\n");
    const bool reused = !found_.empty() && again.ok() && (!usual.ok() || *again < *usual * kWorthwhile);
    if (usual.ok()) spec.below_us = *usual * kWorthwhile;
    if (reused) spec.below_us = *again * kWorthwhile;
    Result<splits::GraphLayout> found = splits::choose_layouts(*one, cluster_, spec);
    if (found.ok() && found->written) found_ = std::move(found->statements);
    return (found.ok() && found->written) || reused ? found_ : std::vector<std::string>{};
  }

  void add_point(Configuration c) {
    if (c.zero > 0 && c.data == 1) return;
    // Parameters gathered anew for every micro-batch of every stage: only where there is one stage.
    if (c.zero == 3 && c.pipe > 1) return;
    if (c.pipe > 1 && c.micro_batches == 1) return;
    if (c.zero == 2 && c.micro_batches == 1) return;  // the same as ZeRO-1: gradients are reduced once
    if (shape_.unit_count() == 0) {
      points.push_back({c, 0});
      return;
    }
    const std::optional<std::vector<Layer>> layers = costs(c);
    if (!layers) {  // layers that do not run one after the other cannot be cut, but repeated on all devices
      if (c.pipe == 1) points.push_back({c, 0});
      return;
    }
    const std::optional<Partition> cut =
        partition(*layers, {static_cast<int>(c.pipe), c.micro_batches, cluster_.device.memory.count});
    if (!cut) {
      too_large.push_back(std::move(c));
      return;
    }
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    const std::int64_t bound = std::max(cut->step_ns, network_bound_ns(c));
    points.push_back({std::move(c), static_cast<double>(bound) / 1000});
  }

  const Probe* probe_of(const ProbeKey& key) {
    const auto found = probes_.find(key);
    if (found != probes_.end()) return found->second ? &*found->second : nullptr;
    Result<Probe> p = probe(graph_, shape_, cluster_, key, settings_.simulation, cache_);
    if (!p.ok() && refusal.empty()) refusal = p.diagnostics;
    auto& kept = probes_[key];
    if (p.ok()) kept = std::move(*p.value);
    if (kept && !key.recompute) kept->share = share_of(*kept, key);
    return kept ? &*kept : nullptr;
  }

  // What replicas exchange of all parameters: gradients (reduced to each, or to the part that each keeps), and parameters.
  struct Network {
    std::int64_t reduce_ns = 0, gather_ns = 0, bytes = 0;
  };
  Network network_of(const Probe& p, const Configuration& c) const {
    Network out;
    for (const LayerCost& l : p.layers) out.bytes += l.parameter_bytes;
    if (c.data == 1) return out;
    const DeviceGroup group{0, {{c.data, c.tensor}}, {}};
    const auto ns = [&](Collective kind) {
      return static_cast<std::int64_t>(1000 * collective_time(cluster_, kind, Bytes{out.bytes}, group).count);
    };
    out.reduce_ns = ns(c.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter);
    out.gather_ns = ns(Collective::all_gather);
    return out;
  }
  static std::int64_t share_of_network(std::int64_t all_ns, const LayerCost& l, const Network& n) {
    if (n.bytes == 0) return 0;
    return static_cast<std::int64_t>(static_cast<double>(all_ns) * static_cast<double>(l.parameter_bytes) /
                                     static_cast<double>(n.bytes));
  }

  // ZeRO-2 and 3 exchange gradients in every micro-batch, ZeRO-3 gathers parameters twice: the network works that long.
  std::int64_t network_bound_ns(const Configuration& c) {
    const Probe* once = probe_of({c.tensor, c.micro_batch, c.sequence, false, c.micro_batches == 1});
    if (!once || c.zero < 2 || c.pipe > 1) return 0;
    const Network n = network_of(*once, c);
    return c.micro_batches * (n.reduce_ns + (c.zero == 3 ? 2 * n.gather_ns : 0));
  }

  // All layers together take no longer than a micro-batch of the model without borders between them.
  double share_of(const Probe& p, const ProbeKey& key) {
    const Result<std::int64_t> most = micro_batch_ns(graph_, shape_, cluster_, key, settings_.simulation, cache_);
    double all = 0;
    for (const LayerCost& l : p.layers) all += static_cast<double>(l.forward_ns + l.backward_ns);
    return most.ok() && all > 0 ? std::min(1.0, static_cast<double>(*most) / all) : 1.0;
  }

  // Parameters, gradients and the optimizer's state, as ZeRO splits them; with one micro-batch gradients come and go.
  std::int64_t state_bytes(const LayerCost& l, const Configuration& c) const {
    const std::int64_t optimizer = settings_.simulation.optimizer_state_bytes * l.parameters;
    const std::int64_t split = c.zero > 0 ? c.data : 1;
    const std::int64_t whole = c.zero == 3 ? 0 : l.parameter_bytes;        // the copy that is used
    const std::int64_t home = c.zero > 0 ? l.parameter_bytes / split : 0;  // the one that is kept
    const std::int64_t gradient = c.micro_batches == 1 ? 0
                                  : c.zero >= 2        ? l.parameter_bytes / split
                                                       : l.parameter_bytes;
    return whole + home + gradient + optimizer / split;
  }

  static constexpr std::int64_t kLargestMicroBatch = 32;
  static constexpr double kSplitsShare = 0.2;
  static constexpr double kWorthwhile =
      0.98;  // of a cost: splits that are found have to be below that to be tried beside

  const Graph& graph_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const Deadline& deadline_;
  const Deadline splits_deadline_;  // for splits alone: plans have to be made, too
  MaterializeCache cache_;
  std::map<ProbeKey, std::optional<Probe>> probes_;
  std::vector<std::string> found_;  // the splits found last
};

class Search {
  static constexpr int kLateTries = 32;

 public:
  Search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Deadline& deadline)
      : graph_(graph), cluster_(cluster), settings_(settings), deadline_(deadline) {}

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
    int late = 0;
    for (Point& p : points) {
      if (!found_.best.empty() && p.bound_us >= found_.best[0].step_us) break;
      if (deadline_.expired()) {
        found_.ended_early = true;
        // Something to go on with is worth a moment more.
        if (!found_.best.empty() || deadline_.stopped() || settings_.seconds <= 0 || ++late > kLateTries) break;
      }
      make(p);
    }
    return finish(points);
  }

 private:
  // ---- the space

  // One tensor-parallel size after the other, on two threads: nothing of one concerns the others.
  std::vector<Point> all_points() {
    std::vector<std::int64_t> sizes;
    for (std::int64_t tensor : divisors(cluster_.device_count()))
      if (tensor == 1 || (tensor <= cluster_.devices_per_unit(0) && shape_.unit_count() > 0)) sizes.push_back(tensor);
    std::vector<Space> spaces;
    for (std::int64_t tensor : sizes) spaces.emplace_back(graph_, cluster_, shape_, settings_, deadline_, tensor);
    {
      std::atomic<std::size_t> next{spaces.size()};  // large groups first: they have most points
      const auto work = [&] {
        for (std::size_t i = next.fetch_sub(1); i > 0 && i <= spaces.size(); i = next.fetch_sub(1))
          spaces[i - 1].fill();
      };
      const std::jthread other(work);
      work();
    }
    std::vector<Point> out;
    for (Space& space : spaces) {
      out.insert(out.end(), space.points.begin(), space.points.end());
      if (first_refusal_.empty()) first_refusal_ = space.refusal;
    }
    spaces_ = std::move(spaces);
    return out;
  }

  std::optional<std::vector<Layer>> costs(const Configuration& c) {
    for (Space& space : spaces_)
      if (space.tensor == c.tensor) return space.costs(c);
    return std::nullopt;
  }

  // ---- candidates

  struct Made {
    Candidate candidate;
    std::int64_t excess = 0;  // bytes beyond the devices' memory or a memory row
  };

  // Nothing: the point cannot be made; said by `refuse`.
  std::optional<Made> made(const Configuration& c, Point& point) {
    const std::string text = script(shape_, c);
    const Result<plan::Plan> plan = plan::parse_plan(text, "");
    if (!plan.ok()) return refuse(point, plan.diagnostics, {});
    const constraint::Joined joined = constraint::join_lines(*plan, settings_.rows);
    const Result<Materialized> m = materialize(graph_, joined.plan, cluster_, {}, &cache_);
    if (!m.ok()) return refuse(point, m.diagnostics, joined);
    const Result<Simulation> simulated = simulate(*m->graph, m->program, cluster_, settings_.simulation);
    if (!simulated.ok()) return refuse(point, simulated.diagnostics, joined);
    ++found_.simulated;
    Made out{{c, text, simulated->step_us(), point.bound_us, {}, breakdown(*simulated)}, 0};
    std::vector<constraint::Peak> peaks;
    for (std::size_t i = 0; i < simulated->classes.size(); ++i) {
      const std::int64_t bytes = simulated->classes[i].peak.bytes();
      out.candidate.peak_bytes.push_back(bytes);
      out.excess = std::max(out.excess, bytes - cluster_.device.memory.count);
      if (!m->decisions.memory.empty()) peaks.push_back({devices(m->program, m->program.classes[i]), bytes});
    }
    for (const plan::MemoryRow& row : m->decisions.memory) {
      const std::int64_t excess = constraint::excess_bytes(m->decisions, row, peaks);
      if (excess > 0)
        broken_.insert(m->decisions.plan.statements[static_cast<std::size_t>(row.statement)].line - first_row(joined));
      out.excess = std::max(out.excess, excess);
    }
    return out;
  }

  static Breakdown breakdown(const Simulation& s) {
    const auto busiest = std::max_element(s.classes.begin(), s.classes.end(),
                                          [](const auto& a, const auto& b) { return a.compute < b.compute; });
    const auto us = [](Nanoseconds t) { return static_cast<double>(t) / 1000; };
    Breakdown out;
    if (busiest == s.classes.end()) return out;
    out.compute_us = us(busiest->compute);
    out.communication_us = us(busiest->idle.communication);
    out.pipeline_us = us(busiest->idle.sum() - busiest->idle.communication - busiest->idle.memory);
    const auto most = std::max_element(busiest->traffic.begin(), busiest->traffic.end(),
                                       [](const auto& a, const auto& b) { return a.payload < b.payload; });
    if (most != busiest->traffic.end())
      out.largest = most->kind + " over " + std::to_string(most->group) + " devices, " +
                    bytes_text(static_cast<double>(most->payload.count));
    return out;
  }

  void make(Point& point) {
    Configuration c = point.configuration;
    if (c.pipe > 1) refine(c, 0);
    // What the estimate leaves out of memory shows in the prediction: then more is computed again, as long as that helps.
    for (int attempt = 0; attempt < 4; ++attempt) {
      std::optional<Made> m = made(c, point);
      if (!m) return;
      // With one stage and nothing computed again there is no cut to choose: the prediction is the point's own.
      if (c.pipe == 1 && std::all_of(c.recompute.begin(), c.recompute.end(), [](int n) { return n == 0; }))
        point.bound_us = std::max(point.bound_us, m->candidate.step_us);
      if (m->excess <= 0) return keep(std::move(m->candidate));
      const auto most = std::max_element(m->candidate.peak_bytes.begin(), m->candidate.peak_bytes.end());
      least_bytes_ = std::min(least_bytes_, *most);
      if (!more_again(c, m->excess)) return;
    }
  }

  // The point's best cut with so much less memory; false: none fits.
  bool refine(Configuration& c, std::int64_t less) {
    const std::optional<std::vector<Layer>> layers = costs(c);
    if (!layers) return false;
    const PartitionSpec spec{static_cast<int>(c.pipe), c.micro_batches, cluster_.device.memory.count - less};
    std::optional<Partition> cut = partition(*layers, spec);
    if (!cut) return false;
    if (c.pipe > 1) cut = refined(*layers, spec, std::move(*cut));
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    return true;
  }

  // The same point with less memory to go by.
  bool more_again(Configuration& c, std::int64_t excess) {
    for (std::int64_t less = excess; less < cluster_.device.memory.count; less *= 2) {
      const Configuration before = c;
      if (!refine(c, less)) return false;
      if (!(c == before)) return true;
    }
    return false;
  }

  static int first_row(const constraint::Joined& joined) { return joined.own.empty() ? 0 : joined.own.front(); }

  std::nullopt_t refuse(Point& point, const std::vector<Diagnostic>& why, const constraint::Joined& joined) {
    point.bound_us = std::numeric_limits<double>::infinity();  // no plan of the point can be made
    if (first_refusal_.empty()) first_refusal_ = why;
    for (const Diagnostic& d : why)
      if (std::find(joined.own.begin(), joined.own.end(), d.line) != joined.own.end())
        broken_.insert(d.line - first_row(joined));
    return std::nullopt;
  }

  bool any_too_large() const {
    return std::any_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return !s.too_large.empty(); });
  }

  void explain_memory() {
    for (Space& space : spaces_)
      for (const Configuration& c : space.too_large) {
        if (deadline_.expired()) break;
        if (const auto layers = space.costs(c))
          least_bytes_ = std::min(least_bytes_, least_memory(*layers, static_cast<int>(c.pipe), c.micro_batches));
      }
    found_.least_bytes = least_bytes_;
    found_.reason = "every plan of the space needs at least " + bytes_text(static_cast<double>(least_bytes_)) +
                    " on some device, and a device has " +
                    bytes_text(static_cast<double>(cluster_.device.memory.count));
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

  Result<Found> finish(const std::vector<Point>& points) {
    for (const Point& p : points)
      found_.lower_bound_us = &p == points.data() ? p.bound_us : std::min(found_.lower_bound_us, p.bound_us);
    if (found_.ended_early) found_.reason = deadline_.stopped() ? "stopped" : "the time limit";
    if (!found_.best.empty()) {
      found_.lower_bound_us = std::min(found_.lower_bound_us, found_.best[0].step_us);
      found_.outcome = Outcome::found;
      if (found_.best.size() > static_cast<std::size_t>(1 + settings_.runners_up))
        found_.best.resize(static_cast<std::size_t>(1 + settings_.runners_up));
    } else if (!found_.ended_early && !deadline_.expired()) {
      found_.outcome = Outcome::impossible;
      if (!broken_.empty())
        found_.reason = "no plan of the space keeps the rows";
      else if (points.empty() && !any_too_large() && first_refusal_.empty())
        found_.reason = "a batch of " + std::to_string(shape_.batch_size) + " cannot be divided over " +
                        std::to_string(cluster_.device_count()) + " devices, with at most " +
                        std::to_string(cluster_.devices_per_unit(0)) + " for a tensor-parallel group and " +
                        std::to_string(std::max(1, shape_.unit_count())) + " stages";
      else if (!first_refusal_.empty() && least_bytes_ == std::numeric_limits<std::int64_t>::max() && !any_too_large())
        found_.reason =
            "no plan of the space can be made; of the first that was tried: " + to_string(first_refusal_[0]);
      else
        explain_memory();
    }
    return std::move(found_);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Settings settings_;
  const Deadline deadline_;
  MaterializeCache cache_;
  ModelShape shape_;
  std::vector<Space> spaces_;
  std::vector<Diagnostic> first_refusal_;
  std::int64_t least_bytes_ = std::numeric_limits<std::int64_t>::max();  // that a device of a plan that was made needs
  std::set<int> broken_;  // rows that some point breaks, counted from the first
  Found found_;
};

}  // namespace

namespace {

// The rows without one of their lines; false: it does not only restrict.
bool drop_line(std::vector<plan::Plan>& rows, std::size_t file, std::size_t statement) {
  const plan::Statement& s = rows[file].statements[statement];
  if (!std::holds_alternative<plan::RequireStatement>(s.body) && !std::holds_alternative<plan::ForbidStatement>(s.body))
    return false;
  rows[file].statements.erase(rows[file].statements.begin() + static_cast<std::ptrdiff_t>(statement));
  return true;
}

// A minimal set of rows that leaves nothing, by deletion, as far as time allows.
std::vector<constraint::PlanLine> conflict_of(const Graph& graph, const Cluster& cluster, Settings settings,
                                              const Deadline& deadline) {
  for (std::size_t file = 0; file < settings.rows.size(); ++file)
    for (std::size_t i = settings.rows[file].statements.size(); i-- > 0;) {
      Settings fewer = settings;
      if (!drop_line(fewer.rows, file, i) || deadline.expired()) continue;
      const Result<Found> f = Search(graph, cluster, fewer, deadline).run();
      if (f.value && f->outcome == Outcome::impossible) settings.rows = std::move(fewer.rows);
    }
  std::vector<constraint::PlanLine> out;
  for (const plan::Plan& p : settings.rows)
    for (const plan::Statement& s : p.statements)
      if (std::holds_alternative<plan::RequireStatement>(s.body) ||
          std::holds_alternative<plan::ForbidStatement>(s.body))
        out.push_back({p.file, s.line, plan::print_code(s)});
  return out;
}

}  // namespace

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings) {
  const Deadline deadline(settings.seconds, settings.stop);
  Result<Found> out = Search(graph, cluster, settings, deadline).run();
  if (out.value && out->outcome == Outcome::impossible && !settings.rows.empty())
    out->conflict = conflict_of(graph, cluster, settings, deadline);
  return out;
}

}  // namespace planscope::stages
