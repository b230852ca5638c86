#pragma once
// The space of stages.h on so many devices: one Space for every size of tensor-parallel groups.
//
//   Spaces spaces(graph, cluster, shape, settings, deadline, cache);
//   spaces.fill(64);
//   spaces.points()[0].bound_us; spaces.costs(spaces.points()[0].configuration)
#include <limits>
#include <optional>
#include <vector>

#include "planner/search/stages/space.h"

namespace planscope::stages {

class Spaces {
 public:
  Spaces(const Graph&, const Cluster&, const ModelShape&, const Settings&, const Deadline&, MaterializeCache&);

  // With the points of plans on so many devices, and with nothing else: tensor-parallel groups inside a unit of the innermost
  // level; larger ones where nothing fits without templates.
  void fill(std::int64_t devices);

  std::int64_t devices() const { return devices_; }
  const std::vector<Point>& points() const { return points_; }
  std::vector<Space>& all() { return spaces_; }
  bool filled() const;                      // with all points
  bool any_too_large() const;               // no cut of some point fits
  std::vector<Diagnostic> refusal() const;  // the first

  // Measures, cuts and bounds the point at this index, once; its bound is infinite if no cut of it fits.
  void refine(std::size_t);

  // As those of the Space that it is in.
  std::optional<Space::Costs> at_best(const Point&);
  std::optional<Space::Costs> gathered_costs(const Configuration&);

  // Bytes of a device: the least and the most that the cluster has.
  std::int64_t smallest() const { return smallest_; }
  std::int64_t largest() const { return largest_; }
  // The least that the smallest device would have to have; kNoBytes: that does not help.
  static constexpr std::int64_t kNoBytes = std::numeric_limits<std::int64_t>::max();
  std::int64_t least_bytes(const Space::Costs&) const;

  // That no plan on so many devices beats: they share the work of one, of the fastest kind. 0: not known, as shards may take
  // less than their share where a profile says so.
  double shared_work_us(std::int64_t devices);

 private:
  std::vector<Point> filled_with(const std::vector<std::int64_t>& sizes);

  const Graph& graph_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const Deadline& deadline_;
  MaterializeCache& cache_;
  std::int64_t smallest_ = 0, largest_ = 0;
  std::int64_t devices_ = 0;
  std::optional<std::int64_t> work_ns_;  // of one device, forward and backward of the batch
  std::vector<Space> spaces_;
  std::vector<Point> points_;
};

}  // namespace planscope::stages
