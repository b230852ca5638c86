#pragma once
// The space of stages.h on so many devices: one Space for every size of tensor-parallel groups.
//
//   Spaces spaces(graph, cluster, shape, settings, deadline, cache, least_memory);
//   spaces.open(64);
//   spaces.fill(rules, rows, deadline);
//   spaces.points()[0].bound_us; spaces.at_best(spaces.points()[0])
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "planner/search/stages/rules.h"
#include "planner/search/stages/space.h"

namespace planscope::stages {

class Spaces {
 public:
  // `least_memory`: what rows may leave of a device.
  Spaces(const Graph&, const Cluster&, const ModelShape&, const Settings&, const Deadline&, MaterializeCache&,
         std::int64_t least_memory);

  // Begins with what `open` needs first.
  void prepare();

  // Of plans on so many devices, and with no point: tensor-parallel groups inside a unit of the innermost level; larger ones where
  // nothing fits without templates.
  void open(std::int64_t devices);
  // With all points whose sizes the rows allow: those that are there stay, at their index. `some`: of each size of groups only
  // with smaller micro-batches, if something fits with these.
  void fill(const Rules&, const constraint::Rows&, const Deadline&, bool some = false);
  // With those of them that need least memory: larger micro-batches need more.
  void fill_leanest(const Rules&, const constraint::Rows&, const Deadline&);

  std::int64_t devices() const { return devices_; }
  const std::vector<Point>& points() const { return points_; }
  const std::vector<std::unique_ptr<Space>>& all() const { return spaces_; }
  std::vector<Configuration> left_out() const;  // by rows, when it was filled last
  bool saves_memory() const { return may_save_memory(settings_.rows); }
  bool filled() const;                      // with all points that they allow
  std::size_t size() const;                 // grows with what is known
  bool any_too_large() const;               // no cut of some point fits
  std::vector<Diagnostic> refusal() const;  // the first

  // Measures, cuts and bounds the point at this index, once; its bound is infinite if no cut of it fits.
  void refine(std::size_t);

  // As those of the Space that it is in.
  std::optional<Space::Costs> at_best(const Point&);
  std::optional<Space::Costs> bordered_costs(const Configuration&);

  // Bytes of a device: the least and the most that the cluster has.
  std::int64_t smallest() const { return smallest_; }
  std::int64_t largest() const { return largest_; }
  // The least that the smallest device would have to have; kNoBytes: that does not help, or it is `below` or more.
  static constexpr std::int64_t kNoBytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t least_bytes(const Space::Costs&, std::int64_t below = kNoBytes) const;

  // That no plan on so many devices beats: they share the work of one, of the fastest kind. 0: not known, as shards may take
  // less than their share where a profile says so.
  double shared_work_us(std::int64_t devices);

 private:
  std::vector<std::unique_ptr<Space>> of_sizes(std::int64_t from, std::int64_t to);
  void fill(const Rules&, const constraint::Rows&, std::int64_t memory, const Deadline&, bool some);
  void fill(const Space::Wanted&, std::int64_t memory, const Deadline&, const Space::Enough& = {});
  bool fits() const;  // something without templates

  const Graph& graph_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const Deadline& deadline_;
  std::shared_future<ProbeModels> models_;
  const std::int64_t least_memory_;
  MaterializeCache& cache_;
  std::int64_t smallest_ = 0, largest_ = 0;
  std::int64_t devices_ = 0;
  std::optional<std::int64_t> work_ns_;         // of one device, forward and backward of the batch
  std::vector<std::unique_ptr<Space>> spaces_;  // by the size of their groups
  std::vector<std::size_t> taken_;              // of the points of each, how many are in `points_`
  std::vector<Configuration> unopened_;         // of larger groups: left out by rows, if there are such
  std::vector<Point> points_;
};

}  // namespace planscope::stages
