#include "planner/search/stages/stages.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/search/orders/program_case.h"
#include "planner/search/stages/conflict.h"
#include "planner/search/stages/space.h"

namespace planscope::stages {
namespace {

class Search {
  static constexpr int kLateTries = 32;
  // For the order of one point.
  static constexpr double kOrderShare = 0.1, kOrderSeconds = 2;

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

  std::optional<Space::Costs> costs(const Configuration& c) {
    for (Space& space : spaces_)
      if (space.tensor == c.tensor) return space.gathered_costs(c);
    return std::nullopt;
  }

  // ---- candidates

  struct Made {
    Candidate candidate;
    std::int64_t excess = 0;  // bytes beyond the devices' memory or a memory row
  };

  struct Played {
    Materialized program;
    Simulation simulation;
    constraint::Joined joined;
  };

  // Nothing: the plan cannot be made; said by `refuse`.
  std::optional<Played> play(const Configuration& c, Point& point) {
    const Result<plan::Plan> plan = plan::parse_plan(script(shape_, c, Chains::own), "");
    if (!plan.ok()) return refuse(point, plan.diagnostics, {});
    constraint::Joined joined = constraint::join_lines(*plan, settings_.rows);
    Result<Materialized> m = materialize(graph_, joined.plan, cluster_, {}, &cache_);
    if (!m.ok()) return refuse(point, m.diagnostics, joined);
    Result<Simulation> simulated = simulate(*m->graph, m->program, cluster_, settings_.simulation);
    if (!simulated.ok()) return refuse(point, simulated.diagnostics, joined);
    ++found_.simulated;
    return Played{std::move(*m.value), std::move(*simulated.value), std::move(joined)};
  }

  std::optional<Made> made(Configuration c, Point& point) {
    const std::optional<Played> played = play(c, point);
    if (!played) return std::nullopt;
    std::optional<Made> out = judge(std::move(c), *played, point);
    if (out->candidate.configuration.order != Order::searched) return out;
    for (Configuration& ordered : with_orders(out->candidate.configuration, *played)) {
      const std::optional<Played> other = play(ordered, point);
      if (!other) continue;
      Made next = judge(std::move(ordered), *other, point);
      if (next.candidate.step_us >= out->candidate.step_us) continue;
      if (out->excess <= 0) keep(std::move(out->candidate));  // what is faster may need too much memory
      out = std::move(next);
    }
    return out;
  }

  // The orders that a search finds for the tasks of a plan without one.
  std::vector<Configuration> with_orders(const Configuration& c, const Played& played) const {
    const Result<orders::ProgramCase> found = orders::program_case(played.program, played.simulation, cluster_);
    if (!found.ok() || has_errors(schedule::check(found->problem))) return {};
    const Deadline deadline = deadline_.within(std::min(kOrderSeconds, settings_.seconds * kOrderShare));
    const schedule::Answer answer = schedule::search(
        found->problem, {static_cast<double>(deadline.milliseconds_left()) / 1000, false, settings_.stop});
    std::vector<Configuration> out;
    for (auto lines : {orders::order_lines(*found, answer), orders::whole_order_lines(*found, answer)})
      if (!lines.empty()) {
        out.push_back(c);
        out.back().chains = std::move(lines);
      }
    return out;
  }

  Made judge(Configuration c, const Played& played, const Point& point) {
    const Materialized& m = played.program;
    std::string text = script(shape_, c);
    Made out{
        {std::move(c), std::move(text), played.simulation.step_us(), point.bound_us, {}, breakdown(played.simulation)},
        0};
    std::vector<constraint::Peak> peaks;
    for (std::size_t i = 0; i < played.simulation.classes.size(); ++i) {
      const std::int64_t bytes = played.simulation.classes[i].peak.bytes();
      out.candidate.peak_bytes.push_back(bytes);
      out.excess = std::max(out.excess, bytes - cluster_.device.memory.count);
      if (!m.decisions.memory.empty()) peaks.push_back({devices(m.program, m.program.classes[i]), bytes});
    }
    for (const plan::MemoryRow& row : m.decisions.memory) {
      const std::int64_t excess = constraint::excess_bytes(m.decisions, row, peaks);
      if (excess > 0)
        broken_.insert(m.decisions.plan.statements[static_cast<std::size_t>(row.statement)].line -
                       first_row(played.joined));
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
    if (const auto bound_ns = c.zero == 3 ? refine(c, 0) : std::nullopt) {
      point.bound_us = std::max(point.bound_us, static_cast<double>(*bound_ns) / 1000);
      if (!found_.best.empty() && point.bound_us >= found_.best[0].step_us) return;
    }
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

  // The point's best cut with so much less memory, and its bound; nothing: none fits.
  std::optional<std::int64_t> refine(Configuration& c, std::int64_t less) {
    std::optional<Space::Costs> cost = costs(c);
    if (!cost) return std::nullopt;
    cost->spec.memory -= less;
    std::optional<Partition> cut = partition(cost->layers, cost->spec);
    if (!cut) return std::nullopt;
    if (c.pipe > 1 && !cost->spec.any_order) cut = refined(cost->layers, cost->spec, std::move(*cut));
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    return cut->step_ns;
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
        if (const auto cost = space.costs(c)) {
          const std::int64_t elsewhere = cluster_.device.memory.count - cost->spec.memory;
          const std::int64_t least = least_memory(cost->layers, cost->spec.stages, cost->spec.micro_batches);
          if (least < std::numeric_limits<std::int64_t>::max())
            least_bytes_ = std::min(least_bytes_, least + elsewhere);
        }
      }
    found_.least_bytes = least_bytes_;
    found_.reason = "every plan of the space needs at least " + bytes_text(static_cast<double>(least_bytes_)) +
                    " on some device, and a device has " +
                    bytes_text(static_cast<double>(cluster_.device.memory.count));
  }

  // One for each shape: runner-ups that differ in micro-batches alone tell nothing.
  void keep(Candidate c) {
    const auto same = [&](const Candidate& o) { return o.configuration.shape() == c.configuration.shape(); };
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

Result<Found> search_rows(const Graph& graph, const Cluster& cluster, const Settings& settings,
                          const Deadline& deadline) {
  return Search(graph, cluster, settings, deadline).run();
}

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings) {
  const Deadline deadline(settings.seconds, settings.stop);
  Result<Found> out = search_rows(graph, cluster, settings, deadline);
  if (out.value && out->outcome == Outcome::impossible && !settings.rows.empty())
    out->conflict = conflict_of(graph, cluster, settings, deadline);
  return out;
}

}  // namespace planscope::stages
