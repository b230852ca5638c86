#include "planner/search/stages/stages.h"

#include <algorithm>
#include <array>
#include <future>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "planner/search/stages/ahead.h"
#include "planner/search/stages/plain_plans.h"
#include "planner/search/stages/point_plans.h"
#include "planner/search/stages/rules.h"
#include "planner/search/stages/spaces.h"
#include "planner/search/stages/trials.h"
#include "planner/search/stages/why_not.h"

namespace planscope::stages {
namespace {

// The reason why a plan was refused: its first error, as warnings may come before it.
std::string first_error(const std::vector<Diagnostic>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
  return to_string(found == all.end() ? all.front() : *found);
}

class Search {
  static constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;
  static constexpr std::int64_t kRefinedWork = 20'000;  // (solver/deadline.h) of what is measured for one point
  static constexpr double kNever = std::numeric_limits<double>::infinity();

 public:
  Search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Deadline& deadline)
      : graph_(graph), cluster_(cluster), settings_(settings), deadline_(deadline), rules_(settings.rows) {}

  Result<Found> run() {
    const auto sized = cache_.at(graph_, {});
    if (!sized.ok()) return sized.diagnostics;
    shape_ = model_shape((*sized.value)->info);
    if (shape_.batch.empty()) return error("the model has no input dimension 'batch' to split");
    spaces_.prepare();
    if (const auto wrong = rules_.read((*sized.value)->info, shape_); !wrong.empty()) return wrong;
    if (settings_.global_batch > 0) shape_.batch_size = settings_.global_batch;
    if (shape_.batch_size > kMostBatch)
      return error("a batch of " + std::to_string(shape_.batch_size) + " is out of range (1 to " +
                   std::to_string(kMostBatch) + ")");
    Sought sought = all_found();
    if (sought.found.outcome == Outcome::impossible && !sought.core.empty()) {
      const std::future<void> sized_for_plans =  // what all of them begin with, meanwhile
          std::async(std::launch::async, [&] { cache_.at(graph_, {{shape_.batch, shape_.batch_size}}); });
      WhyNot why(cluster_, spaces_, trials_, rules_, [&](const Asked& asked) { return find(asked); });
      constraint::ExplainedConflicts c = why.conflicts(deadline_, settings_.relaxing_work);
      // Nothing can be made without the rows either: they are not what is in the way.
      if (std::erase_if(c.all, [](const constraint::ConflictLines& set) { return set.lines.empty(); }) > 0) {
        sought.found.reason =
            "whatever the rows are, no plan of the space can be made for all " + std::to_string(devices_) + " devices";
        if (!plans_.first_refusal.empty())
          sought.found.reason += "; of the first that was tried: " + first_error(plans_.first_refusal);
      }
      sought.found.conflicts = std::move(c.all);
      sought.found.all_conflicts = c.complete;
      if (!sought.found.conflicts.empty() &&
          std::none_of(sought.found.conflicts.begin(), sought.found.conflicts.end(),
                       [&](const auto& set) { return is_clear(set, sought.lacked); }))
        leave_open(sought.found);
    } else if (sought.found.outcome == Outcome::impossible && sought.found.least_bytes > 0 &&
               (sought.lacked || !is_clear(sought.found.least_bytes, spaces_.smallest()))) {
      leave_open(sought.found);
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
  // What plans need is told by the costs of their layers, which may be wrong: only where it is far too much is it clear that
  // nothing fits. Where it is not, and plans were made that lack memory, others of their points may not.
  static bool is_clear(std::int64_t bytes, std::int64_t limit) {
    return static_cast<double>(bytes) * (1 - kMemoryError) > static_cast<double>(limit);
  }
  bool is_clear(const constraint::ConflictLines& set, bool lacked) const {
    bool memory = set.memory.has_value(), clear = set.memory && is_clear(set.memory->bytes, set.memory->limit_bytes);
    for (std::size_t i = 0; i < set.rows.size(); ++i) {
      const auto& needs = set.lines[i].needs;
      memory = memory || needs || rules_.memory_of(set.rows[i]);
      clear = clear || (needs && is_clear(needs->bytes, needs->limit_bytes));
    }
    return (clear && !lacked) || !memory;
  }
  void leave_open(Found& found) {
    found.outcome = Outcome::unknown;
    found.lower_bound_us = spaces_.shared_work_us(devices_);
    found.reason = "none of the plans that were tried fits";
    if (shape_.layers.empty())
      found.reason += "; the model has no list of numbered modules (as 'layers.0'), so that no stages, and no splits and recomputation of layers, were tried";
    if (const std::int64_t unit = cluster_.devices_per_unit(0); devices_ > unit && spaces_.all().back()->tensor <= unit)
      found.reason += "; tensor-parallel groups of more than " + std::to_string(unit) +
                      " devices, over several levels of the cluster, were not tried";
  }

  static const char* what_ended(const Deadline& d) {
    return d.stopped() ? "stopped" : d.over() ? "the time limit" : "the limit of work";
  }

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
    for (std::int64_t fewer : fewer_devices()) {
      devices_ = fewer;
      const double least_us = spaces_.shared_work_us(devices_);  // and so of all that are fewer still
      if (best) {
        if (least_us >= best->found.best[0].step_us) break;
        if (deadline_.expired()) {
          best->found.ended_early = true;
          best->found.reason = what_ended(deadline_);
          bound_of_others_us_ = std::min(bound_of_others_us_, least_us);
          break;
        }
      }
      open();
      const double bound_us = std::exchange(bound_of_others_us_, std::min(bound_of_others_us_, least_us));
      Sought some = find(best_of_all);
      bound_of_others_us_ = bound_us;
      if (some.found.best.empty()) {
        if (!best && !cannot_be_made(some)) return some;
        continue;
      }
      bound_of_others_us_ = std::min(bound_of_others_us_, some.found.lower_bound_us);
      if (best && best->found.best[0].step_us <= some.found.best[0].step_us) continue;
      best = std::move(some);
      devices_of_best = fewer;
    }
    if (!best) return all;
    devices_ = devices_of_best;
    best->found.lower_bound_us = std::min(bound_of_others_us_, best->found.best[0].step_us);
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
    plans_.first_refusal.clear();
  }

  Sought find(const Asked& asked) {
    if (const Candidate* known = asked.any ? trials_.keeping(asked.rows, devices_) : nullptr) {
      found_ = {};
      found_.outcome = Outcome::found;
      found_.best = {*known};
      return {std::move(found_), {}};
    }
    if (!asked.any) return find(asked, false);
    Sought some = find(asked, true);
    return some.found.best.empty() && !spaces_.filled() ? find(asked, false) : std::move(some);
  }

  // `some`: among some points of the space.
  Sought find(const Asked& asked, bool some) {
    const Deadline& deadline = *asked.deadline;
    asked_ = asked;
    found_ = {};
    plans_.ask(asked);
    early_.clear();
    spared_.clear();
    if (asked.rows == rules_.all() && !some)
      fill_spaces(deadline);
    else
      spaces_.fill(rules_, asked.rows, deadline, some);
    if (plans_.first_refusal.empty()) plans_.first_refusal = spaces_.refusal();
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
    std::vector<bool> limited(points.size(), plans_.limits().rows().empty());  // the bound is one under the rows
    // Templates have low bounds and take long to make: with the best of the others known, most need not be looked at.
    const auto has_template = [&](std::size_t i) { return points[i].configuration.has_template(); };
    std::vector<bool> put_off(points.size(), false);  // as rows refused what has the same lines
    std::vector<bool> tight(points.size(), false), looked_at(points.size(), !asked.any);  // whether it may not fit
    const auto later = [&](std::size_t a, std::size_t b) {
      const auto rank = [&](std::size_t i) {
        return std::tuple(has_template(i), bool{put_off[i]}, asked.any ? effort(points[i], tight[i]) : 0,
                          points[i].bound_us, points[i].place);
      };
      return rank(a) > rank(b);
    };
    std::vector<std::size_t> heap(points.size());  // least bound first, templates behind the others
    std::iota(heap.begin(), heap.end(), std::size_t{0});
    std::make_heap(heap.begin(), heap.end(), later);
    if (!asked.any && asked.rows != rules_.all())  // what there is is known of other questions
      if (const Candidate* known = trials_.keeping(asked.rows, devices_)) plans_.keep(*known);
    if (!asked.any && !rules_.leave_open()) go_ahead(points);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const std::size_t i = heap.back();
      Point& p = points[i];
      if (!plans_.best.empty() && asked.any) break;
      if (!plans_.best.empty() && p.bound_us >= plans_.best[0].step_us) {
        heap.pop_back();
        continue;
      }
      if (!put_off[i] && refused_.contains(lines_of(p.configuration))) {
        put_off[i] = true;
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      if (deadline.expired()) {
        found_.ended_early = true;
        break;
      }
      const std::vector<int> broken = broken_by(p.configuration);
      if (broken.empty() && !limited[i]) {
        limited[i] = true;
        missed(plans_.limit(p, cuts_[i]));
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      if (broken.empty() && !p.refined && p.bound_us < std::numeric_limits<double>::infinity()) {
        spaces_.refine(i);
        deadline.count(kRefinedWork);
        p = spaces_.points()[i];
        cuts_[i] = {};
        limited[i] = plans_.limits().rows().empty();
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      if (broken.empty() && !looked_at[i] && effort(p, false) < kMostEffort) {
        looked_at[i] = true;
        tight[i] = !plans_.fits_well(p);
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      heap.pop_back();
      if (!broken.empty()) {
        p.bound_us = std::numeric_limits<double>::infinity();
        missed({{}, broken});
      } else if (p.bound_us < std::numeric_limits<double>::infinity()) {
        const std::int64_t before = plans_.simulated;
        const Missed by = plans_.make(p, cuts_[i]);
        missed(by);
        if (plans_.simulated == before && !by.any.empty()) refused_.insert(lines_of(p.configuration));
        found_.ended_early = found_.ended_early || deadline.expired();
        if (!asked.any && asked.rows == rules_.all() && !plans_.best.empty()) tell(plans_.best[0].step_us, points);
      }
    }
    const bool whole = !asked.any && asked.rows == rules_.all();
    if (whole && deadline.over() && (found_.ended_early || !spaces_.filled())) make_plain(points);
    if (whole) make_runners_up(points, deadline);
    Sought out;
    out.core.assign(core.begin(), core.end());
    out.lacked = plans_.lacked;
    out.found = finish(points, !core.empty(), deadline);
    return out;
  }

  // Reports a plan that is better than the last one, or a bound that is higher by a hundredth of the step: the least bound of all
  // points and of the other counts of devices. The search keeps each plan that it has reported, so that its answer is no worse.
  void tell(double step_us, const std::vector<Point>& points) {
    if (!settings_.progress) return;
    const bool better = step_us < told_us_;
    told_us_ = std::min(told_us_, step_us);
    double bound_us = spaces_.filled() ? told_us_ : 0;  // else there are points that nothing is known of
    if (spaces_.filled())
      for (const Point& p : points) bound_us = std::min(bound_us, p.bound_us);
    bound_us = std::min({std::max(bound_us, spaces_.shared_work_us(devices_)), told_us_, bound_of_others_us_});
    if (!better && bound_us < told_bound_us_ + told_us_ / 100) return;
    told_bound_us_ = std::max(told_bound_us_, bound_us);
    settings_.progress(told_us_, told_bound_us_);
  }

  // Where any plan will do, those come first that take little to make, and fit in most cases.
  static constexpr int kMostEffort = 2;
  static int effort(const Point& p, bool tight) {
    if (tight || !p.refined || !p.fits || p.configuration.offload) return kMostEffort;
    return p.configuration.zero == 3 ? 1 : 0;
  }

  // What tells the lines of plans apart, whatever their sizes: what rows forbid of one, they may well forbid of all that are alike.
  using Lines = std::tuple<bool, bool, bool, bool, bool, bool, int>;
  static Lines lines_of(const Configuration& c) {
    return {c.tensor > 1, c.sequence, c.vocabulary, c.splits.empty(), c.keeps_all(), c.offload, c.zero};
  }

  // Fills the spaces. A plan that anybody would begin with comes first, and where filling takes long, plans are made of what is
  // there by then, now and then, so that there is something to go on with whenever the search has to end; one that ends by itself
  // finds the same with and without them.
  void fill_spaces(const Deadline& deadline) {
    PointPlans early = plans_.ahead();
    make_first_plain(early, deadline);
    for (double slice = std::min(kFirstSlice, kFirstShare * settings_.seconds);; slice *= 2) {
      const Deadline some(std::min(slice, deadline.seconds_left()), deadline.stop(), settings_.clock);
      spaces_.fill(rules_, asked_.rows, some);
      if (spaces_.filled() || deadline.over()) break;
      make_early(early);
      if (!early.best.empty()) tell(early.best[0].step_us, spaces_.points());
    }
    keep_early(std::move(early.best));
  }

  void keep_early(std::vector<Candidate> made) {
    early_.insert(early_.end(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    plans_.there_is_one = !early_.empty();
  }

  // The first of the plain plans that fits: the search begins with replicas where these do. False: none of them fits, or there is
  // no time to try them all.
  bool make_first_plain(PointPlans& plans, const Deadline& deadline) {
    for (const Configuration& c : plain_plans(shape_, devices_, cluster_.devices_per_unit(0), !settings_.rows.empty())) {
      if (deadline.over()) break;
      if (!broken_by(c).empty() || !plans.make_as_it_is(c)) continue;
      tell(plans.best[0].step_us, spaces_.points());
      return true;
    }
    return false;
  }

  static std::vector<std::size_t> by_bound(const std::vector<Point>& points) {
    std::vector<std::size_t> out(points.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) { return std::pair(points[i].bound_us, points[i].place); };
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    return out;
  }

  void make_early(PointPlans& plans) {
    std::vector<Point> points = spaces_.points();
    cuts_.resize(points.size());
    int made = 0;
    const auto best_us = [&] { return plans.best.empty() ? kNever : plans.best[0].step_us; };
    const double before_us = best_us();
    const std::vector<std::size_t> order = by_bound(points);
    for (const std::size_t i : order) {
      Point& p = points[i];
      if (made == kEarlyTries) break;
      if (!may_be_made(p)) continue;
      if (!plans.limits().rows().empty()) plans.limit(p, cuts_[i]);
      if (p.bound_us >= best_us()) continue;
      plans.make(p, cuts_[i]);
      ++made;
    }
    if (made > 0 && best_us() == before_us && best_us() > kFarAbove * points[order[0]].bound_us)
      make_sparing(points, plans);
  }

  // The time is over, or the search is stopped: something to go on with is worth a moment more.
  void make_plain(std::vector<Point>& points) {
    found_.ended_early = true;
    if (!plans_.best.empty() || settings_.seconds <= 0) return;
    const double more = kMoment + kMomentShare * settings_.seconds;
    if (make_first_plain(plans_, Deadline(more, nullptr, settings_.clock))) return;
    if (!early_.empty() || deadline_.stopped()) return;
    const Deadline moment(more, settings_.stop, settings_.clock);
    spaces_.fill(rules_, asked_.rows, moment, true);
    points = spaces_.points();
    cuts_.resize(points.size());
    make_sparing(points, plans_);
  }

  void go_ahead(const std::vector<Point>& points) {
    std::vector<std::size_t> which = by_bound(points);
    std::erase_if(which, [&](std::size_t i) {
      const Point& p = points[i];
      return !p.refined || p.configuration.has_template() || p.bound_us == std::numeric_limits<double>::infinity() ||
             !broken_by(p.configuration).empty();
    });
    const bool whole = asked_.rows == rules_.all();
    const auto better = [&](double step_us) {
      if (whole) tell(step_us, points);
    };
    keep_early(make_ahead(plans_, points, which, *asked_.deadline, better));
  }

  // Where what is shortest by the costs does not fit after all: what is shortest with ever more memory to spare.
  void make_sparing(const std::vector<Point>& points, PointPlans& plans) {
    for (const double spare : kSpared) {
      std::optional<std::pair<double, std::size_t>> shortest;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& p = points[i];
        if (!may_be_made(p) || spared_.contains(i)) continue;
        const std::optional<double> step_us = plans.step_us(p, spare);
        if (step_us && (!shortest || *step_us < shortest->first)) shortest = {*step_us, i};
      }
      if (!shortest || (!plans.best.empty() && shortest->first >= plans.best[0].step_us)) return;
      spared_.insert(shortest->second);
      Point p = points[shortest->second];
      if (!plans.limits().rows().empty()) plans.limit(p, cuts_[shortest->second]);
      if (p.bound_us < kNever) plans.make(p, cuts_[shortest->second], {.spare = spare});
    }
  }

  bool may_be_made(const Point& p) const {
    return p.refined && p.fits && !p.configuration.has_template() && broken_by(p.configuration).empty();
  }

  // The rows that count and are known to be broken by all plans of a point.
  std::vector<int> broken_by(const Configuration& c) const {
    std::vector<int> out = rules_.broken_by(c, asked_.rows);
    return out.empty() ? trials_.broken_by_lines(c, asked_.rows) : out;
  }

  // What else there is: the plans of other shapes with the least bounds, where the search did not have to make any.
  void make_runners_up(const std::vector<Point>& points, const Deadline& deadline) {
    if (plans_.best.empty()) return;
    int made = 0;
    for (const std::size_t i : by_bound(points)) {
      Point p = points[i];
      const auto same = [&](const Candidate& c) { return c.configuration.shape() == p.configuration.shape(); };
      if (deadline.expired() || plans_.best.size() > kRunnersUp || made == kRunnersUpTried) break;
      if (p.bound_us == std::numeric_limits<double>::infinity()) break;
      if (!may_be_made(p)) continue;
      if (std::any_of(plans_.best.begin(), plans_.best.end(), same)) continue;
      ++made;
      plans_.make(p, cuts_[i], {.beside = true});
    }
  }

  bool memory_is_short() const { return spaces_.any_too_large() || plans_.least_bytes < Spaces::kNoBytes; }

  void explain_memory() {
    for (const auto& space : spaces_.all())
      for (const Configuration& c : space->too_large) {
        if (spaces_.saves_memory()) break;  // costs say nothing of it
        if (deadline_.expired()) break;
        if (const auto cost = space->costs(c))
          plans_.least_bytes = std::min(plans_.least_bytes, spaces_.least_bytes(*cost, plans_.least_bytes));
      }
    found_.least_bytes = plans_.least_bytes;
    found_.reason = "every plan of the space needs at least ";
    const std::int64_t smallest = spaces_.smallest();
    if (smallest == spaces_.largest())
      found_.reason += bytes_text(static_cast<double>(plans_.least_bytes)) + " on some device, and a device has " +
                       bytes_text(static_cast<double>(smallest));
    else
      found_.reason += bytes_text(static_cast<double>(plans_.least_bytes - smallest)) + " more than some device has";
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
    for (Candidate& c : early_)
      if (found_.ended_early || plans_.best.empty() || c.step_us < plans_.best[0].step_us) plans_.keep(std::move(c));
    if (found_.ended_early) found_.reason = what_ended(deadline);
    if (!plans_.best.empty()) {
      found_.lower_bound_us = std::min(found_.lower_bound_us, plans_.best[0].step_us);
      for (Candidate& c : plans_.best) c.bound_us = std::min(c.bound_us, c.step_us);
      found_.outcome = Outcome::found;
      if (plans_.best.size() > static_cast<std::size_t>(1 + settings_.runners_up))
        plans_.best.resize(static_cast<std::size_t>(1 + settings_.runners_up));
    } else if (found_.ended_early) {
      if (plans_.simulated > 0 && !asked_.rows.empty())
        found_.reason += "; none of the plans that were tried until then keeps the rows";
      else if (plans_.least_bytes < Spaces::kNoBytes)
        found_.reason += "; every plan that was tried until then needs more memory than there is, at least " +
                         bytes_text(static_cast<double>(plans_.least_bytes)) + " on some device";
      else if (!plans_.first_refusal.empty())
        found_.reason += "; of the first plan that was tried: " + first_error(plans_.first_refusal);
    } else if (trials_.gave_up()) {
      found_.reason = "nothing was found for what rows leave open";
    } else if (!found_.ended_early && !deadline.expired()) {
      found_.outcome = Outcome::impossible;
      if (rows)
        found_.reason = "no plan of the space keeps the rows";
      else if (points.empty() && !spaces_.any_too_large() && plans_.first_refusal.empty())
        found_.reason = "a batch of " + std::to_string(shape_.batch_size) + " cannot be divided over " +
                        std::to_string(devices_) + " devices, with at most " +
                        std::to_string(cluster_.devices_per_unit(0)) + " for a tensor-parallel group and " +
                        std::to_string(std::max(1, shape_.unit_count())) + " stages";
      else if (!plans_.first_refusal.empty() && !memory_is_short())
        found_.reason =
            "no plan of the space can be made; of the first that was tried: " + first_error(plans_.first_refusal);
      else
        explain_memory();
    }
    found_.best = std::move(plans_.best);
    found_.simulated = plans_.simulated;
    return std::move(found_);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Settings settings_;
  const Deadline deadline_;
  Rules rules_;
  MaterializeCache cache_;
  ModelShape shape_;
  Spaces spaces_{graph_, cluster_, shape_, settings_, deadline_, cache_, rules_.least_memory()};
  Trials trials_{graph_, cluster_, shape_, settings_, rules_, cache_};
  PointPlans plans_{cluster_, spaces_, trials_, rules_};
  std::int64_t devices_ = cluster_.device_count();  // of the plans that are looked for
  std::string all_devices_;                         // why these are not all of the cluster
  std::vector<PointPlans::Cuts> cuts_;              // of the points of `spaces_`
  // Of the search that runs.
  Asked asked_;
  std::set<Lines> refused_;                    // of plans that rows refused, whichever
  std::vector<Candidate> early_;               // made before the search came to their points
  std::set<std::size_t> spared_;               // the points that plans were made of with memory to spare
  // Of the user's time, when plans are made for the case that it is over too soon: after so many seconds, or such a share of it.
  static constexpr double kFirstSlice = 2.5, kFirstShare = 0.25;
  static constexpr double kMoment = 0.3, kMomentShare = 0.1;  // … and for what is measured after it, if nothing is there
  static constexpr int kEarlyTries = 2;
  static constexpr double kFarAbove = 2;  // of the least bound: what there is by then is worth other attempts
  static constexpr std::array<double, 3> kSpared = {0.125, 0.25, 0.5};  // of a device's memory
  static constexpr std::size_t kRunnersUp = 2;                          // that there are, if there is time
  static constexpr int kRunnersUpTried = 4;
  double told_us_ = kNever;  // of the best plan that was reported
  double told_bound_us_ = 0;  // that was reported with it, or since
  double bound_of_others_us_ = kNever;  // of searches with another number of devices
  Found found_;
};

}  // namespace

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings) {
  const Deadline deadline(settings.seconds, settings.stop, settings.clock);
  return Search(graph, cluster, settings, deadline).run();
}

}  // namespace planscope::stages
