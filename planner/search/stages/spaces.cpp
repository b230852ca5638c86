#include "planner/search/stages/spaces.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <thread>

namespace planscope::stages {

Spaces::Spaces(const Graph& graph, const Cluster& cluster, const ModelShape& shape, const Settings& settings,
               const Deadline& deadline, MaterializeCache& cache)
    : graph_(graph), cluster_(cluster), shape_(shape), settings_(settings), deadline_(deadline), cache_(cache) {
  smallest_ = cluster.least_memory(cluster.kinds_in(0, cluster.device_count())).count;
  for (const DeviceKind& kind : cluster.kinds) largest_ = std::max(largest_, kind.type.memory.count);
}

void Spaces::fill(std::int64_t devices) {
  devices_ = devices;
  const auto sizes = [&](std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> out;
    for (std::int64_t tensor : divisors(devices_))
      if (tensor >= from && tensor <= to && (tensor == 1 || shape_.unit_count() > 0)) out.push_back(tensor);
    return out;
  };
  const std::int64_t unit = cluster_.devices_per_unit(0);
  spaces_.clear();
  points_ = filled_with(sizes(1, unit));
  const auto plain = [](const Point& p) { return p.refined && !p.configuration.has_template(); };
  if (std::none_of(points_.begin(), points_.end(), plain) && any_too_large()) {
    std::vector<Point> more = filled_with(sizes(unit + 1, devices_));
    points_.insert(points_.end(), more.begin(), more.end());
  }
}

// One size after the other, on two threads: nothing of one concerns the others.
std::vector<Point> Spaces::filled_with(const std::vector<std::int64_t>& sizes) {
  std::vector<Space> spaces;
  for (std::int64_t tensor : sizes)
    spaces.emplace_back(graph_, cluster_, shape_, settings_, deadline_, devices_, tensor);
  for (Space& space : spaces) space.shared_work_us = shared_work_us(devices_);
  {
    std::atomic<std::size_t> next{spaces.size()};  // large groups first: they have most points
    const auto work = [&] {
      for (std::size_t i = next.fetch_sub(1); i > 0 && i <= spaces.size(); i = next.fetch_sub(1)) spaces[i - 1].fill();
    };
    const std::jthread other(work);
    work();
  }
  std::vector<Point> out;
  for (Space& space : spaces) out.insert(out.end(), space.points.begin(), space.points.end());
  std::move(spaces.begin(), spaces.end(), std::back_inserter(spaces_));
  return out;
}

bool Spaces::filled() const {
  return std::all_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return s.filled; });
}

bool Spaces::any_too_large() const {
  return std::any_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return !s.too_large.empty(); });
}

std::vector<Diagnostic> Spaces::refusal() const {
  for (const Space& space : spaces_)
    if (!space.refusal.empty()) return space.refusal;
  return {};
}

std::optional<Space::Costs> Spaces::at_best(const Point& p) {
  for (Space& space : spaces_)
    if (space.tensor == p.configuration.tensor) return space.at_best(p);
  return std::nullopt;
}

std::optional<Space::Costs> Spaces::gathered_costs(const Configuration& c) {
  for (Space& space : spaces_)
    if (space.tensor == c.tensor) return space.gathered_costs(c);
  return std::nullopt;
}

void Spaces::refine(std::size_t index) {
  Point& p = points_[index];
  for (Space& space : spaces_)
    if (space.tensor == p.configuration.tensor) {
      p = space.refined(p).value_or(Point{p.configuration, std::numeric_limits<double>::infinity()});
      p.refined = true;
      return;
    }
}

std::int64_t Spaces::least_bytes(const Space::Costs& cost) const {
  const std::optional<std::int64_t> lacking = shortage(cost.grounds, cost.spec);
  return lacking ? smallest_ + *lacking : kNoBytes;
}

double Spaces::shared_work_us(std::int64_t devices) {
  if (!settings_.simulation.costs.profiles.empty()) return 0;
  if (!work_ns_) {
    work_ns_ = std::numeric_limits<std::int64_t>::max();
    for (const int kind : cluster_.kinds_in(0, cluster_.device_count()))
      work_ns_ = std::min(*work_ns_,
                          micro_batch_ns(graph_, shape_, cluster_.of_kind(kind),
                                         {.micro_batch = shape_.batch_size, .only = true}, settings_.simulation, cache_)
                              .value.value_or(0));
  }
  return static_cast<double>(*work_ns_) / 1000 / static_cast<double>(devices);
}

}  // namespace planscope::stages
