#include "planner/search/stages/point_plans.h"

#include <algorithm>
#include <array>

namespace planscope::stages {
namespace {

constexpr int kAttempts = 5;             // of one point, with other cuts
constexpr double kWorthTrying = 0.998;   // of the best step: what another cut has to promise
constexpr double kFar = 1.02;            // of a bound: predictions above that are worth other cuts
constexpr double kNear = 1.5;            // … of the best: below that
constexpr double kExposed = 0.01;        // of a step: communication that nothing hides, worth an attempt to hide it
constexpr std::int64_t kMostShifts = 8;  // of all points, and one more for every second plan made
// Of a device's memory: costs may be too high by so much. In most cases by little, of tiny layers by more.
constexpr std::array<double, 3> kHopes = {0.03, 0.1, 0.2};
constexpr double kLittle = 0.1;  // of a device's memory
constexpr int kFewStages = 2;
constexpr double kSparedPart = 1.0 / 16;  // of a device's memory
constexpr std::int64_t kUnknownBytes = std::numeric_limits<std::int64_t>::min() / 4;

std::vector<std::int64_t> spared(const Configuration& c, std::int64_t memory, double part) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(c.pipe),
                                   static_cast<std::int64_t>(part * static_cast<double>(memory)));
}

std::vector<std::int64_t> hoping(double hope, std::vector<std::int64_t> less, std::int64_t memory) {
  for (std::int64_t& bytes : less) bytes -= static_cast<std::int64_t>(hope * static_cast<double>(memory));
  return less;
}

}  // namespace

PointPlans::PointPlans(const Cluster& cluster, Spaces& spaces, Trials& trials, const Rules& rules)
    : cluster_(cluster), spaces_(spaces), trials_(trials), rules_(rules) {}

void PointPlans::ask(const Asked& asked) {
  asked_ = asked;
  limits_.emplace(rules_, cluster_, spaces_.largest(), asked.rows);
  best.clear();
  lacked = there_is_one = false;
  simulated = shifts_ = 0;
  least_bytes = Spaces::kNoBytes;
}

PointPlans PointPlans::ahead() const {
  PointPlans out = *this;
  out.asked_.ahead = out.asked_.may_give_up = true;
  return out;
}

bool PointPlans::make_as_it_is(const Configuration& c) {
  bool fits = false;
  const Tried& t = best_order(limits_->limited(c), {c}, fits);
  if (t.candidate) ++simulated;
  if (t.candidate && t.excess > 0) least_bytes = std::min(least_bytes, spaces_.smallest() + t.excess);
  return fits;
}

// The shortest of a plan and of the same with orders that were searched for. It may need too much memory where others do not:
// those that fit are kept.
const Tried& PointPlans::best_order(const Configuration& c, const Point& point, bool& fits) {
  if (!best.empty()) asked_.best_us = best[0].step_us;
  asked_.may_give_up = asked_.ahead || there_is_one || !best.empty();
  const auto good = [&](const Tried& t) { return t.candidate && counted(t.broken, asked_.rows).empty(); };
  const auto keep_fitting = [&](const Tried& t) {
    if (excess_of(t, asked_.rows).bytes > 0) return;
    Candidate fitting = *t.candidate;
    fitting.bound_us = point.bound_us;
    keep(std::move(fitting));
    fits = true;
  };
  const Tried* chosen = &trials_.tried(c, asked_);
  if (first_refusal.empty()) first_refusal = chosen->refusal;
  if (!good(*chosen)) return *chosen;
  keep_fitting(*chosen);
  for (const Configuration& ordered : trials_.orders(*chosen, asked_)) {
    const Tried& next = trials_.tried(ordered, asked_);
    if (!good(next)) continue;
    keep_fitting(next);
    if (next.candidate->step_us < chosen->candidate->step_us) chosen = &next;
  }
  return *chosen;
}

// Raises the bound to that of the best cut under the rows.
Missed PointPlans::limit(Point& point, Cuts& cuts) {
  std::optional<Limits::Cut> cut =
      limits_->cut(point.configuration, [&] { return spaces_.at_best(point); }, cuts.bound);
  if (!cut) return {};
  point.bound_us = cut->step_ns ? std::max(point.bound_us, static_cast<double>(*cut->step_ns) / 1000)
                                : std::numeric_limits<double>::infinity();
  return {std::move(cut->why), {}};
}

std::optional<Space::Costs> PointPlans::sparing(const Point& point, double spare) const {
  std::optional<Space::Costs> cost = spaces_.at_best(point);
  if (!cost) return cost;
  Limits::keep_once(*cost, limits_->limited(point.configuration));
  cost->limit(cluster_, limits_->memory());
  cost->spec.less = spared(point.configuration, limits_->memory(), spare);
  return cost;
}

std::optional<double> PointPlans::step_us(const Point& point, double spare) const {
  const std::optional<Space::Costs> cost = sparing(point, spare);
  const std::optional<Partition> cut = cost ? partition(cost->grounds, cost->spec) : std::nullopt;
  if (!cut) return std::nullopt;
  return std::max(static_cast<double>(cut->step_ns) / 1000, point.bound_us);  // … and what the network takes
}

bool PointPlans::fits_well(const Point& point) const {
  const std::optional<Space::Costs> cost = sparing(point, kSparedPart);
  return cost && some_fits(cost->grounds, cost->spec, 0);
}

Missed PointPlans::make(Point& point, Cuts& cuts, const Making& how) {
  const auto excluded = [&](Missed by) {
    point.bound_us = std::numeric_limits<double>::infinity();
    return by;
  };
  if (std::vector<int> broken = trials_.broken_by_lines(point.configuration, asked_.rows); !broken.empty())
    return excluded({{}, std::move(broken)});
  Configuration c = limits_->limited(point.configuration);
  constraint::Rows shaping = limits_->rows();  // without these the plan may be another one
  for (const int row : rules_.statements(asked_.rows)) shaping.push_back(row);
  std::sort(shaping.begin(), shaping.end());
  if (rules_.leave_open()) shaping = asked_.rows;  // what is chosen for them depends on all
  const std::int64_t memory = limits_->memory();
  // Where any plan will do, one that fits even if the costs of its layers are a little wrong.
  const double spare = asked_.any ? std::max(how.spare, kSparedPart) : how.spare;
  if (c.pipe > 1 || c.zero == 3 || c.offload || !limits_->rows().empty() || how.spare > 0) {
    std::optional<std::int64_t> bound_ns;
    if (spare > 0) bound_ns = refine(c, memory, spared(c, memory, spare));
    if (!bound_ns) bound_ns = refine(c, memory);
    if (!bound_ns && !limits_->rows().empty())
      if (auto cut = limits_->cut(c, [&] { return spaces_.bordered_costs(c); }, cuts.plan))
        return excluded({std::move(cut->why), {}});
    // Nothing to be in pieces, or to be offloaded: the plan is that of another point.
    if (bound_ns && (c.offload || c.coshard > 1) && c.keeps_all()) return excluded({});
    if (bound_ns && c.zero == 3 && !spaces_.saves_memory() &&
        !asked_.any) {  // what ZeRO-3 gathers, and what it keeps, is known by now
      if (const std::optional<Space::Costs> cost = costs_within(c, memory))
        if (const std::optional<std::int64_t> least = cost->bound_ns())
          point.bound_us = std::max(point.bound_us, static_cast<double>(*least) / 1000);
      if (!how.beside && !best.empty() && point.bound_us >= best[0].step_us) return {};
    }
  }
  // What the layers' costs say of memory and what the prediction says differ: the next cut goes by the difference, as long as
  // it is another one, and promises more than this one where this one fits. At last one that fits if costs are a little too high.
  Missed why{shaping, {}};
  std::vector<std::int64_t> less(static_cast<std::size_t>(c.pipe), kUnknownBytes);
  bool fits = false;
  auto hope = kHopes.begin();
  const std::vector<int> first = c.recompute;
  std::optional<Candidate> here;                                  // the best that fits
  std::optional<std::pair<std::int64_t, Configuration>> nearest;  // what the nearest of those that do not lacks
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Tried& t = best_order(c, point, fits);
    std::vector<int> broken = counted(t.broken, asked_.rows);
    if (!broken.empty() || !t.candidate) {
      std::vector<int> always = trials_.broken_by_lines(c, asked_.rows);
      if (fits) return {};
      return always.empty() ? excluded({shaping, std::move(broken)}) : excluded({{}, std::move(always)});
    }
    ++simulated;
    // With one stage, nothing computed again and no gradients to exchange there is nothing to choose: the prediction is the
    // point's own.
    if (c.pipe == 1 && c.data == 1 && !rules_.leave_open() && c.keeps_all())
      point.bound_us = std::max(point.bound_us, t.candidate->step_us);
    const Excess excess = excess_of(t, asked_.rows);
    why.any = excess.row;
    if (excess.bytes <= 0 && (!here || t.candidate->step_us < here->step_us)) here = *t.candidate;
    if (excess.bytes > 0) {
      least_bytes = std::min(least_bytes, spaces_.smallest() + t.excess);
      if (!nearest || excess.bytes < nearest->first) nearest = {excess.bytes, c};
    }
    if (fits && asked_.any) break;
    if (late()) return {};
    learn(c, memory, t, excess, less);
    Configuration next = c;
    std::optional<std::int64_t> bound_ns = refine(next, memory, less);
    for (; (!bound_ns || next == c) && hope != (fits ? kHopes.end() : kHopes.begin() + 1); ++hope) {
      next = c;
      bound_ns = refine(next, memory, hoping(*hope, less, memory));
    }
    if (!bound_ns || next == c) break;
    if (fits && static_cast<double>(*bound_ns) / 1000 > kWorthTrying * best[0].step_us) break;
    c = std::move(next);
  }
  if (!fits && late()) return {};
  if (!fits && nearest && static_cast<double>(nearest->first) < kLittle * static_cast<double>(memory))
    fits = approach(nearest->second, point, memory);
  if (!fits && c.offload && c.recompute != c.stages) {  // what copies leave on the device is no part of the costs
    c.recompute = c.stages;
    best_order(c, point, fits);
  }
  if (!fits && c.pipe == 1 && c.data > 1 && c.zero != 3 && !c.offload && trials_.layers_in_turn()) {
    c.overlap = true;  // gradients that are exchanged early are not there later
    best_order(c, point, fits);
    if (std::exchange(c.recompute, first) != first) best_order(c, point, fits);
  }
  if (!fits && (c.zero == 3 || c.brings_back_ahead())) {  // by little: what comes ahead may be what is too much
    c.prefetch = false;
    best_order(c, point, fits);
  }
  if (fits) {
    if (here && !asked_.any && !late() && !point.configuration.has_template() && asked_.rows == rules_.all()) {
      overlap(*here, point);
      shift(*here, point, memory);
    }
    return {};
  }
  lacked = lacked || nearest.has_value();
  return point.fits ? why : excluded(why);  // neither costs nor predictions let it fit
}

// Few stages lack little: in the one that needs most, one layer more or less is computed again, as long as that helps.
bool PointPlans::approach(Configuration c, const Point& point, std::int64_t memory) {
  bool fits = false, nearer = true;
  if (c.recompute.empty()) return false;  // no layers, or none that can be told apart: there is nothing to change
  const Tried& start = best_order(c, point, fits);
  const auto lack =
      std::count_if(start.stage_peaks.begin(), start.stage_peaks.end(), [&](std::int64_t b) { return b > memory; });
  if (lack > kFewStages) return false;
  std::int64_t lacking = excess_of(start, asked_.rows).bytes;
  for (int attempt = 0; attempt < kAttempts && nearer && !fits; ++attempt) {
    nearer = false;
    const std::vector<std::int64_t>& peaks = best_order(c, point, fits).stage_peaks;
    if (peaks.size() != c.recompute.size()) break;  // it cannot be made
    const auto s = static_cast<std::size_t>(std::max_element(peaks.begin(), peaks.end()) - peaks.begin());
    for (const int more : {1, -1}) {
      Configuration next = c;
      next.recompute[s] += more;
      if (nearer || next.recompute[s] < 0 || next.recompute[s] > next.stages[s]) continue;
      const Tried& t = best_order(next, point, fits);
      const std::int64_t left = excess_of(t, asked_.rows).bytes;
      nearer = t.candidate && counted(t.broken, asked_.rows).empty() && left < lacking;
      if (!nearer) continue;
      lacking = left;
      c = std::move(next);
    }
  }
  return fits;
}

// Small gradients are exchanged together, when all of them are there: where that shows, each layer is made a segment of its own.
// And what ZeRO-3 gathers one layer ahead may be hidden better if it comes when it can.
void PointPlans::overlap(Candidate here, const Point& point) {
  Configuration& c = here.configuration;
  if (c.pipe > 1 || c.data == 1 || (c.zero != 3 && !trials_.layers_in_turn())) return;
  if (here.breakdown.communication_us < kExposed * here.step_us) return;
  if (here.step_us - here.breakdown.communication_us >= best[0].step_us) return;
  (c.zero == 3 ? c.prefetch : c.overlap) = c.zero != 3;
  bool fits = false;
  best_order(c, point, fits);
}

// What passes between stages is no part of the costs: where a prediction is far above its bound, and near the best, layers go
// from one stage to the next as long as that makes it shorter. (Not with templates: each such plan would have an order searched.)
void PointPlans::shift(Candidate here, const Point& point, std::int64_t memory) {
  for (bool shorter = true; shorter && here.configuration.pipe > 1;) {
    shorter = false;
    if (here.step_us <= kFar * point.bound_us || here.step_us > kNear * best[0].step_us) return;
    for (const PlayedCut& cut : shifted(here.configuration, memory)) {
      if (shifts_++ >= kMostShifts + simulated / 2) return;
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
std::vector<PlayedCut> PointPlans::shifted(const Configuration& c, std::int64_t memory) {
  std::vector<PlayedCut> out;
  const std::optional<Space::Costs> cost = costs_within(c, memory);
  if (!cost) return out;
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

std::optional<Space::Costs> PointPlans::costs_within(const Configuration& c, std::int64_t memory) const {
  std::optional<Space::Costs> cost = spaces_.bordered_costs(c);
  if (!cost) return cost;
  Limits::keep_once(*cost, c);
  cost->limit(cluster_, memory);
  return cost;
}

// The point's best cut within so much memory of a device, of some stages less, and its bound; nothing: none fits.
std::optional<std::int64_t> PointPlans::refine(Configuration& c, std::int64_t memory,
                                               const std::vector<std::int64_t>& less) {
  std::optional<Space::Costs> cost = costs_within(c, memory);
  if (!cost) return std::nullopt;
  cost->spec.less = less;
  std::optional<Partition> cut = partition(cost->grounds, cost->spec);
  if (!cut && less.empty()) cut = cost->leanest();
  if (!cut) return std::nullopt;
  if (c.pipe > 1 && !cost->spec.any_order) cut = stages::refined(cost->grounds, cost->spec, std::move(*cut));
  c.stages = cut->layers;
  c.recompute = cut->recompute;
  return cut->step_ns;
}

// How much less than `memory` each stage of the next cuts has to go by: by as much as the prediction of one needs more than
// its layers' costs say (less than nothing: it needs less), and what a row is exceeded by beside.
void PointPlans::learn(const Configuration& c, std::int64_t memory, const Tried& t, const Excess& excess,
                       std::vector<std::int64_t>& less) {
  const std::optional<Space::Costs> cost = costs_within(c, memory);
  if (!cost || c.stages.size() != less.size()) return;
  // A row of some devices is no limit of the costs: it may be any stage's.
  const bool of_some =
      !excess.row.empty() && !std::binary_search(limits_->rows().begin(), limits_->rows().end(), excess.row[0]);
  const std::vector<std::int64_t> estimates = cost->stage_bytes(c);
  for (std::size_t s = 0; s < less.size(); ++s) {
    const std::int64_t there_is = cost->ground(s).memory;
    std::int64_t over = t.stage_peaks[s] - cost->elsewhere - there_is;
    if (of_some) over = std::max(over, excess.bytes);
    less[s] = std::max(less[s], there_is + over - estimates[s]);
  }
}

// One for each shape: runner-ups that differ in micro-batches alone tell nothing.
void PointPlans::keep(Candidate c) {
  const auto same = [&](const Candidate& o) { return o.configuration.shape() == c.configuration.shape(); };
  const auto known = std::find_if(best.begin(), best.end(), same);
  if (known != best.end()) {
    if (known->step_us <= c.step_us) return;
    best.erase(known);
  }
  const auto place = std::upper_bound(best.begin(), best.end(), c.step_us,
                                      [](double step, const Candidate& o) { return step < o.step_us; });
  best.insert(place, std::move(c));
}

}  // namespace planscope::stages
