#include "planner/search/stages/spaces.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <thread>
#include <utility>

namespace planscope::stages {

Spaces::Spaces(const Graph& graph, const Cluster& cluster, const ModelShape& shape, const Settings& settings,
               const Deadline& deadline, MaterializeCache& cache, std::int64_t least_memory)
    : graph_(graph),
      cluster_(cluster),
      shape_(shape),
      settings_(settings),
      deadline_(deadline),
      least_memory_(least_memory),
      cache_(cache) {
  smallest_ = cluster.least_memory(cluster.kinds_in(0, cluster.device_count())).count;
  for (const DeviceKind& kind : cluster.kinds) largest_ = std::max(largest_, kind.type.memory.count);
}

std::vector<std::unique_ptr<Space>> Spaces::of_sizes(std::int64_t from, std::int64_t to) {
  std::vector<std::unique_ptr<Space>> out;
  for (std::int64_t tensor : divisors(devices_))
    if (tensor >= from && tensor <= to && (tensor == 1 || shape_.unit_count() > 0)) {
      out.push_back(std::make_unique<Space>(graph_, models_.get(), cluster_, shape_, settings_, deadline_, cache_,
                                            devices_, tensor, least_memory_));
      out.back()->shared_work_us = shared_work_us(devices_);
    }
  return out;
}

void Spaces::prepare() {
  models_ = std::async(std::launch::async, [graph = &graph_, shape = shape_] { return ProbeModels(*graph, shape); });
}

void Spaces::open(std::int64_t devices) {
  devices_ = devices;
  if (!models_.valid()) prepare();
  points_.clear();
  spaces_ = of_sizes(1, cluster_.devices_per_unit(0));
  taken_.assign(spaces_.size(), 0);
}

bool Spaces::fits() const { return std::any_of(points_.begin(), points_.end(), Space::fits_plainly); }

void Spaces::fill(const Rules& rules, const constraint::Rows& rows, const Deadline& deadline, bool some) {
  const std::optional<Rules::Memory> row = rules.memory_under(rows);
  fill(rules, rows, row ? row->bytes : kNoBytes, deadline, some);
}

void Spaces::fill_leanest(const Rules& rules, const constraint::Rows& rows, const Deadline& deadline) {
  fill(rules, rows, 0, deadline, false);
}

void Spaces::fill(const Rules& rules, const constraint::Rows& rows, std::int64_t memory, const Deadline& deadline,
                  bool some) {
  const Space::Wanted wanted = [&](const Configuration& c) { return rules.broken_by(c, rows).empty(); };
  const auto fit = [&](const std::vector<Point>& points, const Space::Wanted& of) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& p) { return Space::fits_plainly(p) && of(p.configuration); });
  };
  unopened_.clear();
  if (some)
    fill(wanted, memory, deadline, [&](const std::vector<Point>& points, std::int64_t micro_batch) {
      return micro_batch > 1 && fit(points, wanted);
    });
  else
    fill(wanted, memory, deadline);
  const std::int64_t unit = cluster_.devices_per_unit(0);
  if (!filled() || fits() || devices_ <= unit || spaces_.back()->tensor > unit) return;
  std::vector<std::unique_ptr<Space>> larger = of_sizes(unit + 1, devices_);
  if (std::any_of(larger.begin(), larger.end(), [&](const auto& s) { return s->wants(wanted); })) {
    // Whether they are of the space is the same for all rows.
    const Space::Wanted all = [](const Configuration&) { return true; };
    fill(all, kNoBytes, deadline, [&](const std::vector<Point>& points, std::int64_t) { return fit(points, all); });
    if (!filled() && !fits()) return;
    if (!fits() && any_too_large()) {
      std::move(larger.begin(), larger.end(), std::back_inserter(spaces_));
      taken_.resize(spaces_.size());
    }
    fill(wanted, memory, deadline);
  } else {
    for (const auto& space : larger) {
      space->fill(wanted, memory, deadline);
      unopened_.insert(unopened_.end(), space->left_out.begin(), space->left_out.end());
    }
  }
}

// One size after the other, on two threads: nothing of one concerns the others.
void Spaces::fill(const Space::Wanted& wanted, std::int64_t memory, const Deadline& deadline,
                  const Space::Enough& enough) {
  {
    std::atomic<std::size_t> next{spaces_.size()};  // large groups first: they have most points
    const auto work = [&] {
      for (std::size_t i = next.fetch_sub(1); i > 0 && i <= spaces_.size(); i = next.fetch_sub(1))
        spaces_[i - 1]->fill(wanted, memory, deadline, enough);
    };
    const std::jthread other(work);
    work();
  }
  for (std::size_t i = 0; i < spaces_.size(); ++i) {
    const std::vector<Point>& all = spaces_[i]->points;
    for (; taken_[i] < all.size(); ++taken_[i]) {
      points_.push_back(all[taken_[i]]);
      points_.back().place = (static_cast<std::int64_t>(i) << 32) + static_cast<std::int64_t>(taken_[i]);
    }
    deadline.count(std::exchange(spaces_[i]->work, 0));
  }
}

std::vector<Configuration> Spaces::left_out() const {
  std::vector<Configuration> out = unopened_;
  for (const auto& space : spaces_) out.insert(out.end(), space->left_out.begin(), space->left_out.end());
  return out;
}

std::size_t Spaces::size() const {
  std::size_t out = spaces_.size();
  for (const auto& space : spaces_) out += space->points.size() + space->too_large.size();
  return out;
}

bool Spaces::filled() const {
  return std::all_of(spaces_.begin(), spaces_.end(), [](const auto& s) { return s->filled; });
}

bool Spaces::any_too_large() const {
  return std::any_of(spaces_.begin(), spaces_.end(), [](const auto& s) { return !s->too_large.empty(); });
}

std::vector<Diagnostic> Spaces::refusal() const {
  for (const auto& space : spaces_)
    if (!space->refusal.empty()) return space->refusal;
  return {};
}

std::optional<Space::Costs> Spaces::at_best(const Point& p) {
  for (const auto& space : spaces_)
    if (space->tensor == p.configuration.tensor) return space->at_best(p);
  return std::nullopt;
}

std::optional<Space::Costs> Spaces::bordered_costs(const Configuration& c) {
  for (const auto& space : spaces_)
    if (space->tensor == c.tensor) return space->bordered_costs(c);
  return std::nullopt;
}

void Spaces::refine(std::size_t index) {
  Point& p = points_[index];
  for (const auto& space : spaces_)
    if (space->tensor == p.configuration.tensor) {
      const std::int64_t place = p.place;
      p = space->refined(p).value_or(Point{p.configuration, std::numeric_limits<double>::infinity()});
      p.refined = true;
      p.place = place;
      return;
    }
}

std::int64_t Spaces::least_bytes(const Space::Costs& cost, std::int64_t below) const {
  if (below < kNoBytes && !some_fits(cost.grounds, cost.spec, below - 1 - smallest_)) return kNoBytes;
  const std::optional<std::int64_t> lacking = shortage(cost.grounds, cost.spec);
  return lacking ? smallest_ + *lacking : kNoBytes;
}

double Spaces::shared_work_us(std::int64_t devices) {
  if (!settings_.simulation.costs.profiles.empty()) return 0;
  if (!work_ns_) {
    work_ns_ = std::numeric_limits<std::int64_t>::max();
    for (const int kind : cluster_.kinds_in(0, cluster_.device_count()))
      work_ns_ = std::min(*work_ns_,
                          micro_batch_ns(models_.get(), cluster_.of_kind(kind),
                                         {.micro_batch = shape_.batch_size, .only = true}, settings_.simulation, cache_)
                              .value.value_or(0));
  }
  return static_cast<double>(*work_ns_) / 1000 / static_cast<double>(devices);
}

}  // namespace planscope::stages
