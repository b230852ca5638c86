#include "planner/search/stages/stages.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "planner/search/stages/limits.h"
#include "planner/search/stages/rules.h"
#include "planner/search/stages/spaces.h"
#include "planner/search/stages/trials.h"
#include "planner/search/stages/why_not.h"

namespace planscope::stages {
namespace {

class Search {
  static constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;
  static constexpr int kLateTries = 32;

 public:
  Search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Deadline& deadline)
      : graph_(graph), cluster_(cluster), settings_(settings), deadline_(deadline), rules_(settings.rows) {}

  Result<Found> run() {
    const auto sized = cache_.at(graph_, {});
    if (!sized.ok()) return sized.diagnostics;
    shape_ = model_shape((*sized.value)->info);
    if (shape_.batch.empty()) return error("the model has no input dimension 'batch' to split");
    if (const auto wrong = rules_.read((*sized.value)->info, shape_); !wrong.empty()) return wrong;
    if (settings_.global_batch > 0) shape_.batch_size = settings_.global_batch;
    if (shape_.batch_size > kMostBatch)
      return error("a batch of " + std::to_string(shape_.batch_size) + " is out of range (1 to " +
                   std::to_string(kMostBatch) + ")");
    Sought sought = all_found();
    if (sought.found.outcome == Outcome::impossible && !sought.core.empty()) {
      WhyNot why(cluster_, spaces_, trials_, rules_, [&](const Asked& asked) { return find(asked); });
      constraint::ExplainedConflicts c = why.conflicts(sought.core, deadline_, settings_.relaxing_seconds);
      // Nothing can be made without the rows either: they are not what is in the way.
      if (std::erase_if(c.all, [](const constraint::ConflictLines& set) { return set.lines.empty(); }) > 0) {
        sought.found.reason =
            "whatever the rows are, no plan of the space can be made for all " + std::to_string(devices_) + " devices";
        if (!trials_.first_refusal.empty())
          sought.found.reason += "; of the first that was tried: " + to_string(trials_.first_refusal[0]);
      }
      sought.found.conflicts = std::move(c.all);
      sought.found.all_conflicts = c.complete;
    }
    Result<Found> out = std::move(sought.found);
    if (out->outcome == Outcome::found && devices_ < cluster_.device_count())
      out.diagnostics = {note("no plan of the space can be made for all " + std::to_string(cluster_.device_count()) +
                                  " devices: this one leaves " + std::to_string(cluster_.device_count() - devices_) +
                                  " idle",
                              all_devices_)};
    return out;
  }

 private:
  // With all devices; if these cannot be used together, with those of which some are left idle.
  Sought all_found() {
    const Asked best_of_all{rules_.all(), false, &deadline_};
    open();
    Sought all = find(best_of_all);
    const auto cannot_be_made = [&](const Sought& s) {
      return s.found.outcome == Outcome::impossible && s.core.empty() && !memory_is_short();
    };
    if (!cannot_be_made(all)) return all;
    all_devices_ = all.found.reason;
    std::optional<Sought> best;
    std::int64_t devices_of_best = devices_;
    double bound_us = std::numeric_limits<double>::infinity();
    for (std::int64_t fewer : fewer_devices()) {
      devices_ = fewer;
      if (best) {
        const double least_us = spaces_.shared_work_us(devices_);
        if (least_us >= best->found.best[0].step_us) break;  // and so of all that are fewer still
        if (deadline_.expired()) {
          best->found.ended_early = true;
          bound_us = std::min(bound_us, least_us);
          break;
        }
      }
      open();
      Sought some = find(best_of_all);
      if (some.found.best.empty()) {
        if (!best && !cannot_be_made(some)) return some;
        continue;
      }
      bound_us = std::min(bound_us, some.found.lower_bound_us);
      if (best && best->found.best[0].step_us <= some.found.best[0].step_us) continue;
      best = std::move(some);
      devices_of_best = fewer;
    }
    if (!best) return all;
    devices_ = devices_of_best;
    best->found.lower_bound_us = std::min(bound_us, best->found.best[0].step_us);
    return std::move(*best);
  }

  // What stages, replicas and tensor-parallel groups come to, most devices first.
  std::vector<std::int64_t> fewer_devices() const {
    std::set<std::int64_t, std::greater<>> out;
    const std::int64_t unit = shape_.unit_count() > 0 ? cluster_.devices_per_unit(0) : 1;
    for (std::int64_t data : divisors(shape_.batch_size))
      for (std::int64_t pipe = 1; pipe <= std::max(1, shape_.unit_count()); ++pipe)
        for (std::int64_t tensor = 1; tensor <= unit; ++tensor)
          if (data < cluster_.device_count() && data * pipe * tensor < cluster_.device_count())
            out.insert(data * pipe * tensor);
    return {out.begin(), out.end()};
  }

  void open() {
    spaces_.open(devices_);
    cuts_.clear();
    trials_.first_refusal.clear();
  }

  // Why a point has no plan under the rows: `together`, and one of `any`.
  struct Missed {
    constraint::Rows together;
    std::vector<int> any;
  };

  Sought find(const Asked& asked) {
    const Deadline& deadline = *asked.deadline;
    asked_ = asked;
    found_ = {};
    if (const Candidate* known = asked.any ? trials_.keeping(asked.rows, devices_) : nullptr) {
      found_.outcome = Outcome::found;
      found_.best = {*known};
      return {std::move(found_), {}};
    }
    limits_.emplace(rules_, cluster_, spaces_.largest(), asked.rows);
    least_bytes_ = Spaces::kNoBytes;
    early_.clear();
    fill_spaces(deadline);
    if (trials_.first_refusal.empty()) trials_.first_refusal = spaces_.refusal();
    std::vector<Point> points = spaces_.points();
    const std::vector<Configuration> left_out = spaces_.left_out();
    found_.points = static_cast<std::int64_t>(points.size() + left_out.size());
    cuts_.resize(points.size());
    std::set<int> core;
    const auto missed = [&](const Missed& by) {
      core.insert(by.together.begin(), by.together.end());
      if (!by.any.empty() && std::none_of(by.any.begin(), by.any.end(), [&](int row) { return core.contains(row); }))
        core.insert(by.any.front());
    };
    for (const Configuration& c : left_out) missed({{}, rules_.broken_by(c, asked.rows)});
    std::vector<bool> limited(points.size(), limits_->rows().empty());  // the bound is one under the rows
    // Templates have low bounds and take long to make: with the best of the others known, most need not be looked at.
    const auto has_template = [&](std::size_t i) { return points[i].configuration.has_template(); };
    const auto later = [&](std::size_t a, std::size_t b) {
      return std::tuple(has_template(a), points[a].bound_us, a) > std::tuple(has_template(b), points[b].bound_us, b);
    };
    std::vector<std::size_t> heap(points.size());  // least bound first, templates behind the others
    std::iota(heap.begin(), heap.end(), std::size_t{0});
    std::make_heap(heap.begin(), heap.end(), later);
    int late = 0;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const std::size_t i = heap.back();
      Point& p = points[i];
      if (!found_.best.empty() && asked.any) break;
      if (!found_.best.empty() && p.bound_us >= found_.best[0].step_us) {
        if (has_template(i)) break;
        heap.pop_back();
        continue;
      }
      if (deadline.expired()) {
        found_.ended_early = true;
        // Something to go on with is worth a moment more.
        const bool first = &deadline == &deadline_;
        if (!first || !found_.best.empty() || !early_.empty() || deadline.stopped() || settings_.seconds <= 0 ||
            ++late > kLateTries)
          break;
      }
      const std::vector<int> broken = rules_.broken_by(p.configuration, asked.rows);
      if (broken.empty() && !limited[i]) {
        limited[i] = true;
        missed(limit(p, cuts_[i]));
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      if (broken.empty() && !p.refined && p.bound_us < std::numeric_limits<double>::infinity()) {
        spaces_.refine(i);
        p = spaces_.points()[i];
        cuts_[i] = {};
        limited[i] = limits_->rows().empty();
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      heap.pop_back();
      if (!broken.empty()) {
        p.bound_us = std::numeric_limits<double>::infinity();
        missed({{}, broken});
      } else if (p.bound_us < std::numeric_limits<double>::infinity()) {
        missed(make(p, cuts_[i]));
      }
    }
    if (!asked.any && asked.rows == rules_.all()) make_runners_up(points, deadline);
    Sought out;
    out.core.assign(core.begin(), core.end());
    out.found = finish(points, !core.empty(), deadline);
    return out;
  }

  // Fills the spaces. Where that takes long, plans are made of what is there by then, now and then, so that there is something to
  // go on with whenever the search has to end; one that ends by itself finds the same with and without them.
  void fill_spaces(const Deadline& deadline) {
    double slice = kFirstSlice;
    for (;; slice *= 2) {
      spaces_.fill(rules_, asked_.rows, {}, deadline.within(slice));
      if (spaces_.filled() || deadline.stopped() || settings_.seconds <= 0) break;
      make_early();
      if (deadline.expired()) break;
    }
    early_ = std::move(found_.best);
    found_ = {};
  }

  void make_early() {
    std::vector<Point> points = spaces_.points();
    cuts_.resize(points.size());
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a].bound_us < points[b].bound_us; });
    int made = 0;
    for (const std::size_t i : order) {
      Point& p = points[i];
      if (made == kEarlyTries) return;
      if (!p.refined || !p.fits || p.configuration.has_template()) continue;
      if (!rules_.broken_by(p.configuration, asked_.rows).empty()) continue;
      if (!limits_->rows().empty()) limit(p, cuts_[i]);
      if (!found_.best.empty() && p.bound_us >= found_.best[0].step_us) continue;
      if (p.bound_us == std::numeric_limits<double>::infinity()) continue;
      make(p, cuts_[i]);
      ++made;
    }
  }

  // What else there is: the plans of other shapes with the least bounds, where the search did not have to make any.
  void make_runners_up(const std::vector<Point>& points, const Deadline& deadline) {
    if (found_.best.empty()) return;
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a].bound_us < points[b].bound_us; });
    int made = 0;
    for (const std::size_t i : order) {
      Point p = points[i];
      const auto same = [&](const Candidate& c) { return c.configuration.shape() == p.configuration.shape(); };
      if (deadline.expired() || found_.best.size() > kRunnersUp || made == kRunnersUpTried) break;
      if (p.bound_us == std::numeric_limits<double>::infinity()) break;
      if (!p.refined || !p.fits || p.configuration.has_template()) continue;
      if (std::any_of(found_.best.begin(), found_.best.end(), same)) continue;
      ++made;
      make(p, cuts_[i], true);
    }
  }

  // ---- candidates

  // The shortest of a plan and of the same with orders that were searched for. It may need too much memory where others do not:
  // those that fit are kept.
  const Tried& best_order(const Configuration& c, const Point& point, bool& fits) {
    if (!found_.best.empty()) asked_.best_us = found_.best[0].step_us;
    const auto good = [&](const Tried& t) { return t.candidate && counted(t.broken, asked_.rows).empty(); };
    const auto keep_fitting = [&](const Tried& t) {
      if (excess_of(t, asked_.rows).bytes > 0) return;
      keep(*t.candidate);
      fits = true;
    };
    const Tried* best = &trials_.tried(c, point.bound_us, asked_);
    if (!good(*best)) return *best;
    keep_fitting(*best);
    for (const Configuration& ordered : trials_.orders(*best, asked_)) {
      const Tried& next = trials_.tried(ordered, point.bound_us, asked_);
      if (!good(next)) continue;
      keep_fitting(next);
      if (next.candidate->step_us < best->candidate->step_us) best = &next;
    }
    return *best;
  }

  // What cuts of a point take under rows: by the costs that its bound is from, and by those of its plan.
  struct Cuts {
    Limits::Known bound, plan;
  };

  // Raises the bound to that of the best cut under the rows.
  Missed limit(Point& point, Cuts& cuts) {
    std::optional<Limits::Cut> cut =
        limits_->cut(point.configuration, [&] { return spaces_.at_best(point); }, cuts.bound);
    if (!cut) return {};
    point.bound_us = cut->step_ns ? std::max(point.bound_us, static_cast<double>(*cut->step_ns) / 1000)
                                  : std::numeric_limits<double>::infinity();
    return {std::move(cut->why), {}};
  }

  // Keeps the point's plan if there is one; beside a better one, too, if asked to.
  Missed make(Point& point, Cuts& cuts, bool beside = false) {
    const auto excluded = [&](Missed by) {
      point.bound_us = std::numeric_limits<double>::infinity();
      return by;
    };
    Configuration c = limits_->limited(point.configuration);
    constraint::Rows shaping = limits_->rows();  // without these the plan may be another one
    for (const int row : rules_.statements(asked_.rows)) shaping.push_back(row);
    std::sort(shaping.begin(), shaping.end());
    const std::int64_t memory = limits_->memory();
    if (c.pipe > 1 || c.zero == 3 || c.offload || !limits_->rows().empty()) {
      std::optional<std::int64_t> bound_ns;
      if (asked_.any) bound_ns = refine(c, memory, spared(c, memory));
      if (!bound_ns) bound_ns = refine(c, memory);
      if (!bound_ns && !limits_->rows().empty())
        if (auto cut = limits_->cut(c, [&] { return spaces_.bordered_costs(c); }, cuts.plan))
          return excluded({std::move(cut->why), {}});
      if (bound_ns && c.pipe == 1) {  // what borders between layers take, and what ZeRO-3 keeps, is known by now
        point.bound_us = std::max(point.bound_us, static_cast<double>(*bound_ns) / 1000);
        if (!beside && !found_.best.empty() && point.bound_us >= found_.best[0].step_us) return {};
      }
    }
    // What the layers' costs say of memory and what the prediction says differ: the next cut goes by the difference, as long as
    // it is another one, and promises more than this one where this one fits.
    Missed why{shaping, {}};
    std::vector<std::int64_t> less(static_cast<std::size_t>(c.pipe), kUnknownBytes);
    bool fits = false;
    std::optional<Candidate> here;  // the best that fits
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Tried& t = best_order(c, point, fits);
      std::vector<int> broken = counted(t.broken, asked_.rows);
      if (!broken.empty() || !t.candidate) return fits ? Missed{} : excluded({shaping, std::move(broken)});
      ++found_.simulated;
      // With one stage and nothing computed again there is no cut to choose: the prediction is the point's own.
      if (c.pipe == 1 && std::all_of(c.recompute.begin(), c.recompute.end(), [](int n) { return n == 0; }))
        point.bound_us = std::max(point.bound_us, t.candidate->step_us);
      const Excess excess = excess_of(t, asked_.rows);
      why.any = excess.row;
      if (excess.bytes <= 0 && (!here || t.candidate->step_us < here->step_us)) here = *t.candidate;
      if (excess.bytes > 0) least_bytes_ = std::min(least_bytes_, spaces_.smallest() + t.excess);
      if (fits && asked_.any) break;
      learn(c, memory, t, excess, less);
      Configuration next = c;
      const std::optional<std::int64_t> bound_ns = refine(next, memory, less);
      if (!bound_ns || next == c) break;
      if (fits && static_cast<double>(*bound_ns) / 1000 > kWorthTrying * found_.best[0].step_us) break;
      c = std::move(next);
    }
    if (fits) {
      if (here && !asked_.any && asked_.rows == rules_.all()) shift(*here, point, memory);
      return {};
    }
    return point.fits ? why : excluded(why);  // neither costs nor predictions let it fit
  }

  // What passes between stages is no part of the costs: where a prediction is far above its bound, and near the best, layers go
  // from one stage to the next as long as that makes it shorter.
  void shift(Candidate here, const Point& point, std::int64_t memory) {
    for (bool shorter = true; shorter && here.configuration.pipe > 1;) {
      shorter = false;
      if (here.step_us <= kFar * point.bound_us || here.step_us > kNear * found_.best[0].step_us) return;
      for (const PlayedCut& cut : shifted(here.configuration, memory)) {
        if (shifts_++ >= kMostShifts + found_.simulated / 2) return;
        Configuration next = here.configuration;
        next.stages = cut.layers;
        next.recompute = cut.recompute;
        next.chains.clear();
        bool fits = false;
        const Tried& t = best_order(next, point, fits);
        shorter = fits && t.candidate && excess_of(t, asked_.rows).bytes <= 0 && t.candidate->step_us < here.step_us;
        if (!shorter) continue;
        here = *t.candidate;
        break;
      }
    }
  }

  // The same with one layer in the stage before or behind, the shortest first.
  std::vector<PlayedCut> shifted(const Configuration& c, std::int64_t memory) {
    std::vector<PlayedCut> out;
    std::optional<Space::Costs> cost = spaces_.bordered_costs(c);
    if (!cost) return out;
    Limits::keep_once(*cost, c);
    cost->limit(cluster_, memory);
    for (std::size_t s = 0; s + 1 < c.stages.size(); ++s)
      for (const int more : {1, -1}) {
        std::vector<int> layers = c.stages;
        layers[s] += more;
        layers[s + 1] -= more;
        if (layers[s] < 1 || layers[s + 1] < 1) continue;
        if (std::optional<PlayedCut> cut = played(cost->grounds, cost->spec, std::move(layers)))
          out.push_back(std::move(*cut));
      }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; });
    return out;
  }

  // The point's best cut within so much memory of a device, of some stages less, and its bound; nothing: none fits.
  std::optional<std::int64_t> refine(Configuration& c, std::int64_t memory,
                                     const std::vector<std::int64_t>& less = {}) {
    std::optional<Space::Costs> cost = spaces_.bordered_costs(c);
    if (!cost) return std::nullopt;
    Limits::keep_once(*cost, c);
    cost->limit(cluster_, memory);
    cost->spec.less = less;
    std::optional<Partition> cut = partition(cost->grounds, cost->spec);
    if (!cut && less.empty()) cut = cost->leanest();
    if (!cut) return std::nullopt;
    if (c.pipe > 1 && !cost->spec.any_order) cut = stages::refined(cost->grounds, cost->spec, std::move(*cut));
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    return cut->step_ns;
  }

  // Where any plan will do, one that fits even if the costs of its layers are a little wrong.
  static std::vector<std::int64_t> spared(const Configuration& c, std::int64_t memory) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(c.pipe), memory / kSparedPart);
  }

  // How much less than `memory` each stage of the next cuts has to go by: by as much as the prediction of one needs more than
  // its layers' costs say (less than nothing: it needs less), and what a row is exceeded by beside.
  void learn(const Configuration& c, std::int64_t memory, const Tried& t, const Excess& excess,
             std::vector<std::int64_t>& less) {
    std::optional<Space::Costs> cost = spaces_.bordered_costs(c);
    if (!cost || c.stages.size() != less.size()) return;
    Limits::keep_once(*cost, c);
    cost->limit(cluster_, memory);
    const std::vector<std::int64_t> estimates = cost->stage_bytes(c);
    for (std::size_t s = 0; s < less.size(); ++s) {
      const std::int64_t there_is = cost->ground(s).memory;
      std::int64_t over = t.stage_peaks[s] - cost->elsewhere - there_is;
      if (!excess.row.empty()) over = std::max(over, excess.bytes);
      less[s] = std::max(less[s], there_is + over - estimates[s]);
    }
  }

  bool memory_is_short() const { return spaces_.any_too_large() || least_bytes_ < Spaces::kNoBytes; }

  void explain_memory() {
    for (Space& space : spaces_.all())
      for (const Configuration& c : space.too_large) {
        if (deadline_.expired()) break;
        if (const auto cost = space.costs(c))
          least_bytes_ = std::min(least_bytes_, spaces_.least_bytes(*cost, least_bytes_));
      }
    found_.least_bytes = least_bytes_;
    found_.reason = "every plan of the space needs at least ";
    const std::int64_t smallest = spaces_.smallest();
    if (smallest == spaces_.largest())
      found_.reason += bytes_text(static_cast<double>(least_bytes_)) + " on some device, and a device has " +
                       bytes_text(static_cast<double>(smallest));
    else
      found_.reason += bytes_text(static_cast<double>(least_bytes_ - smallest)) + " more than some device has";
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

  Found finish(const std::vector<Point>& points, bool rows, const Deadline& deadline) {
    for (const Point& p : points)
      found_.lower_bound_us = &p == points.data() ? p.bound_us : std::min(found_.lower_bound_us, p.bound_us);
    if (!spaces_.filled()) {
      found_.ended_early = true;
      found_.lower_bound_us = 0;
    }
    // Points that were not looked at, or not closely, may have no bound of their own.
    if (found_.ended_early) found_.lower_bound_us = std::max(found_.lower_bound_us, spaces_.shared_work_us(devices_));
    if (found_.ended_early)
      for (Candidate& c : early_) keep(std::move(c));
    if (found_.ended_early) found_.reason = deadline.stopped() ? "stopped" : "the time limit";
    if (!found_.best.empty()) {
      found_.lower_bound_us = std::min(found_.lower_bound_us, found_.best[0].step_us);
      for (Candidate& c : found_.best) c.bound_us = std::min(c.bound_us, c.step_us);
      found_.outcome = Outcome::found;
      if (found_.best.size() > static_cast<std::size_t>(1 + settings_.runners_up))
        found_.best.resize(static_cast<std::size_t>(1 + settings_.runners_up));
    } else if (!found_.ended_early && !deadline.expired()) {
      found_.outcome = Outcome::impossible;
      if (rows)
        found_.reason = "no plan of the space keeps the rows";
      else if (points.empty() && !spaces_.any_too_large() && trials_.first_refusal.empty())
        found_.reason = "a batch of " + std::to_string(shape_.batch_size) + " cannot be divided over " +
                        std::to_string(devices_) + " devices, with at most " +
                        std::to_string(cluster_.devices_per_unit(0)) + " for a tensor-parallel group and " +
                        std::to_string(std::max(1, shape_.unit_count())) + " stages";
      else if (!trials_.first_refusal.empty() && !memory_is_short())
        found_.reason =
            "no plan of the space can be made; of the first that was tried: " + to_string(trials_.first_refusal[0]);
      else
        explain_memory();
    }
    return std::move(found_);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Settings settings_;
  const Deadline deadline_;
  Rules rules_;
  MaterializeCache cache_;
  ModelShape shape_;
  Spaces spaces_{graph_, cluster_, shape_, settings_, deadline_};
  Trials trials_{graph_, cluster_, shape_, settings_, rules_, cache_};
  std::int64_t devices_ = cluster_.device_count();  // of the plans that are looked for
  std::string all_devices_;                         // why these are not all of the cluster
  std::vector<Cuts> cuts_;                          // of the points of `spaces_`
  // Of the search that runs.
  Asked asked_;
  std::optional<Limits> limits_;
  std::vector<Candidate> early_;              // made before the spaces were filled
  static constexpr double kFirstSlice = 0.7;  // seconds
  static constexpr int kEarlyTries = 2;
  static constexpr std::size_t kRunnersUp = 2;  // that there are, if there is time
  static constexpr int kRunnersUpTried = 4;
  static constexpr std::int64_t kSparedPart = 16;  // of a device's memory
  static constexpr int kAttempts = 5;              // of one point, with other cuts
  static constexpr double kFar = 1.02;             // of a bound: predictions above that are worth other cuts
  static constexpr double kNear = 1.25;            // … of the best: below that
  static constexpr std::int64_t kMostShifts = 8;   // of all points, and one more for every second plan made
  std::int64_t shifts_ = 0;
  static constexpr double kWorthTrying = 0.998;  // of the best step: what another cut has to promise
  static constexpr std::int64_t kUnknownBytes = std::numeric_limits<std::int64_t>::min() / 4;
  std::int64_t least_bytes_ = Spaces::kNoBytes;  // that a device of a plan that was made needs
  Found found_;
};

}  // namespace

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings) {
  const Deadline deadline(settings.seconds, settings.stop);
  return Search(graph, cluster, settings, deadline).run();
}

}  // namespace planscope::stages
