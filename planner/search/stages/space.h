#pragma once
// The points of the space of stages.h with tensor-parallel groups of one size, and what layers take there. It is
// filled and refined by one thread; what is measured (costs, at_best, bordered_costs) any number of threads may ask for at once.
//
//   Space space(graph, models, cluster, shape, settings, deadline, 64, 8);
//   space.fill([](const Configuration& c) { return c.pipe == 4; }, memory, deadline);
//   space.points[0].bound_us; space.costs(space.points[0].configuration)
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/memo.h"
#include "planner/search/stages/found_splits.h"
#include "planner/search/stages/partition.h"
#include "planner/search/stages/probe.h"
#include "planner/search/stages/stages.h"
#include "planner/solver/deadline.h"

namespace planscope::stages {

// A point of the space with its best cut. One that is not refined has none yet; its bound is below what it will be.
struct Point {
  Configuration configuration;
  double bound_us = 0;
  bool refined = true;
  bool fits = true;        // by the costs of its layers
  std::int64_t place = 0;  // among all of the space, in whatever order they were measured
};

// By which the costs of layers may be too low about memory: predictions say. (Measured: by 18 % at most, in most cases by less
// than 1 %; more with offload, which brings layers ahead, and whose copies may not keep up.)
constexpr double kMemoryError = 0.2;
// By which they may be too high: bounds are of plans that need so much less. (Measured: 15 % at most, of tiny micro-batches, where
// gradients are exchanged while others are still made.)
constexpr double kBoundError = 0.2;

std::vector<std::int64_t> divisors(std::int64_t);  // ascending

// Whether lines of the user may split, or keep away from devices, what layers' costs count: these say nothing of memory then.
bool may_save_memory(const std::vector<plan::Plan>& rows);

class Space {
 public:
  // Of plans on so many devices of the cluster, of whose memory rows may leave so little.
  Space(const Graph&, const ProbeModels&, const Cluster&, const ModelShape&, const Settings&, const Deadline&,
        MaterializeCache&, std::int64_t devices, std::int64_t tensor,
        std::int64_t least_memory = std::numeric_limits<std::int64_t>::max());

  // With the points that are wanted and not there yet, until the time or the work is over. What is wanted tells sizes of axes apart.
  // Of a device rows leave `memory`: larger micro-batches are not looked at where nothing fits into that with smaller ones.
  using Wanted = std::function<bool(const Configuration&)>;
  // … or until there is enough, by the points that are there, before those of micro-batches of so many samples.
  using Enough = std::function<bool(const std::vector<Point>&, std::int64_t micro_batch)>;
  void fill(const Wanted&, std::int64_t memory, const Deadline&, const Enough& = {});
  static bool fits_plainly(const Point& p) { return p.refined && p.fits && !p.configuration.has_template(); }
  bool wants(const Wanted&) const;  // any of them

  // Measured, cut and bounded; nothing: no cut of it fits, or it adds nothing to what is there.
  std::optional<Point> refined(const Point&);

  // What layers take in a configuration, and what their cuts have to keep to; nothing: they do not run one after the other.
  struct Costs {
    std::vector<Ground> grounds;  // by the kinds of devices that stages stand on
    std::vector<Ground> early;    // the same where gradients are exchanged layer by layer; empty: they cannot be
    PartitionSpec spec;
    std::vector<std::vector<int>> kinds;  // of devices, by ground
    std::int64_t elsewhere = 0;           // bytes of a device that belong to no layer: not in Ground::memory
    bool open = false;                    // lines of the user may make plans need less
    // Devices use at most so many bytes, if they have them.
    void limit(const Cluster&, std::int64_t bytes);
    std::optional<Partition> leanest()
        const;  // the cut that needs least, where it fits but for an error of the costs, or may be saved
    std::optional<Partition> leanest_of(const std::vector<Ground>&) const;
    bool some_fits() const;  // whether there is one
    // The least that the best cut can take under the limits; nothing: none fits.
    std::optional<std::int64_t> bound_ns() const;
    const Ground& ground(std::size_t stage) const;
    std::int64_t tolerance(const std::vector<Ground>&) const;  // bytes that cuts may lack, for errors of the costs
    std::vector<std::int64_t> stage_bytes(const Configuration&) const;  // that its stages need, without `elsewhere`
  };
  std::optional<Costs> costs(const Configuration&);
  // Of one that is not refined, the best that it can come to by what is measured; nothing: that is not known.
  std::optional<Costs> at_best(const Point&);
  // Of plans that have borders between layers (what is brought ahead of them), with those, and with what they keep and work
  // with where ZeRO-3 gathers parameters: never less, and asked for where it matters alone.
  std::optional<Costs> bordered_costs(const Configuration&);

  std::int64_t tensor;
  double shared_work_us = 0;  // of the devices, at least; 0: not known
  std::vector<Point> points;
  bool filled = false;                   // with all points that were wanted last
  std::int64_t work = 0;                 // of measuring, that nobody has counted yet
  std::vector<Configuration> left_out;   // those that were not
  std::vector<Configuration> too_large;  // no cut of them fits, by the costs of their layers
  std::vector<Diagnostic> refusal;       // the first

 private:
  // What replicas exchange of all parameters: gradients (reduced to each, or to the part that each keeps), and parameters.
  struct Network {
    std::int64_t reduce_ns = 0, gather_ns = 0, bytes = 0;
    std::int64_t share(std::int64_t all_ns, const LayerCost&) const;
  };

  struct Measured {
    Costs costs;
    std::optional<Partition> cut;  // nothing: none fits
    bool lean = false;             // with the least memory that rows may leave nothing is computed again
  };

  Configuration best_pieces(const Configuration&);
  std::vector<std::vector<bool>> layers_for_pieces(const Configuration&);

  template <class Visit>
  void for_sizes(std::int64_t micro_batch, const Visit&) const;  // until it returns false
  bool later(const Configuration&) const;                        // its points are measured when nothing else is left
  bool some_fits(const Configuration::Sizes&, std::int64_t memory, bool single);
  const std::vector<std::string>& splits_for(const Configuration&);
  void add_waiting(Configuration);
  void add_points(const Configuration&, const std::vector<std::string>& found);
  std::optional<Measured> add_with_less_memory(const Configuration&);
  void add_promising(Configuration, Costs at_best, const Measured& plain);
  bool may_offload() const;
  std::vector<Configuration> with_less_split(const Configuration&) const;
  std::optional<std::int64_t> whole_ns(const ProbeKey&);
  void add_for_gathers(Configuration, const Measured& plain);
  bool shorter(const Configuration&, const Configuration& usual, const std::vector<std::vector<int>>& kinds);
  std::optional<Measured> add_point(Configuration);  // nothing: it is none, or its layers cannot be cut
  // Of layers that are computed once; again, whole and in pieces, as far as the configuration has such.
  struct Probes {
    const Probe *once = nullptr, *whole = nullptr, *pieces = nullptr;
    LayerCost again(const Configuration&, std::size_t layer) const;  // … or offloaded
    bool same(const Configuration&, std::size_t layer, std::size_t other) const;
  };
  // Nothing: they cannot be measured.
  std::optional<Probes> probes_of(ProbeKey once, const Configuration&);
  Layer layer_of(const Probe& once, const LayerCost& a, const LayerCost& b, const Network&, const Configuration&) const;
  ProbeKey key_of(const Configuration&, std::vector<int> kinds) const;
  const Result<Probe>& probe_of(const ProbeKey&);
  bool known(ProbeKey) const;
  const Probe* noted(const Result<Probe>&);  // … or why it is none
  std::optional<Configuration> smaller(Configuration) const;
  Network network_of(const Probe&, const Configuration&) const;
  std::int64_t network_bound_ns(const Configuration&);
  void with_borders(std::vector<Layer>&, ProbeKey, const Configuration&);
  std::optional<std::int64_t> bordered_ns(const ProbeKey&);
  double spared_ns(const std::vector<int>& kinds, std::int64_t bytes, const Configuration&) const;
  bool may_exchange_early(const Configuration&) const;
  Parameters parameters_of(const LayerCost&, const Configuration&, const Network&, bool early = false) const;

  const std::int64_t devices_;
  const ProbeModels& models_;
  const Cluster& cluster_;
  const ModelShape& shape_;
  const Settings& settings_;
  const std::int64_t least_memory_;
  const bool open_;  // Costs::open
  MaterializeCache& cache_;
  std::mutex noting_;  // of `refusal`
  Memo<ProbeKey, Result<Probe>> probes_;
  Memo<ProbeKey, std::optional<std::int64_t>> bordered_;  // micro_batch_ns with borders
  Memo<ProbeKey, std::optional<std::int64_t>> whole_;     // whole_ns
  std::map<Configuration::Sizes, std::pair<std::size_t, std::size_t>>
      measured_;  // the points that came of it: first, end
  std::map<std::tuple<Configuration::Sizes, std::int64_t, bool>, bool> some_fits_;  // by memory, and whether single
  std::map<std::int64_t, std::vector<std::string>> splits_;                         // by micro-batch
  FoundSplits found_;
};

}  // namespace planscope::stages
