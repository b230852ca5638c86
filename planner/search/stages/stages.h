#pragma once
// Whole plans from nothing: how many stages, replicas and tensor-parallel devices, how many micro-batches, where the pipeline is
// cut, what is computed again, how optimizer state is split.
//
// Space. N devices as pipe x data x tensor (tensor innermost; at most a unit of the innermost level of the
// cluster, unless nothing without templates fits there),
// layers by the template `tp` with vocabulary and sequence split or by the splits that planner/search/splits finds
// where these promise more (so for models that the template does not know), 1F1B over consecutive layers in stages of
// any length, any divisor of the batch as micro-batches, the first layers of each stage computed again, ZeRO 0 to 3 (3
// with one stage alone). N is all devices of the cluster; where no plan can be made for these, it is any smaller number,
// and a note says so.
//
// Devices of several kinds. Stages stand on neighbouring devices, stage 0 on the first ones or on the last; each has as many
// layers as pay on its own devices and fit in their memory. Where a stage has devices of several kinds (one stage, above all)
// the slowest and the smallest count, and replicas still have equal shares of the batch. Not looked at: other orders of
// the kinds.
//
// Templates of the paper, where they are allowed and have something to act on: layers computed again in pieces (coshard), the
// vocabulary over all devices of a replica beside their stages (interlaced), other orders than 1F1B where layers are called
// repeatedly; the first two only where they promise at least 2 %. The order of the last two is searched (planner/search/orders) when such a point is made.
//
// Search. What one layer takes is read off a prediction of the model on one tensor-parallel group (probe.h). For every point
// of the space but the cut, `partition` gives the best cut and the least step time of any cut; points are looked at by that
// bound, least first, those with templates behind the others, each made and simulated, until the next bound is not below the best step found, or the time is over.
// What is found does not depend on how fast the machine is, as long as the time is not over: nothing else is limited by time. Where it
// is over before anything was found, the answer is the first of the plans that anybody would begin with (plain_plans.h) that fits.
//
// Bound. `lower_bound_us` is the least bound of all points: no plan of the space has a shorter step, as far as layers take as
// long as in the probe (the cost model's word) and stages work them one after the other. Points that time did not suffice to
// look at count as the devices' share of the work of one. Exposed gradient exchange, transfers
// and the update are not in it: the gap to the best plan is at most what these cost. (Of 1,650 random plans two were shorter than
// the bound of their own point, by 0.08 and 0.04 %: by_hand_test.cpp.)
//
//   Result<Found> f = search(graph, cluster, {.global_batch = 1024, .seconds = 60});
//   f->best[0].script; f->best[0].step_us; f->lower_bound_us
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/materialize.h"
#include "engine/base/clock.h"
#include "planner/constraint/relaxed.h"
#include "planner/search/stages/configuration.h"
#include "planner/simulate/simulate.h"

namespace planscope::stages {

// What plans may have beside stages, replicas, tensor-parallel groups, recomputation and ZeRO.
struct Templates {
  bool coshard = true;     // layers that are computed again may be in pieces (nnScaler, OSDI'24, Table 5)
  bool interlaced = true;  // vocabulary over all stages, which share their devices with it (Table 6)
  bool three_f1b = true;   // repeated calls in another order than 1F1B (Table 7, and what search finds)
};

struct Settings {
  std::int64_t global_batch = 0;  // 0: that of the model
  Templates templates = {};
  double seconds = 60;
  int runners_up = 4;
  SimulationOptions simulation = {};
  // Constraint rows of the user, in the plan language; they may speak of the axes pipe, data, tensor and mb.
  std::vector<plan::Plan> rows = {};
  // Work (solver/deadline.h) for better plans than the first that there is without a row of a conflict.
  std::int64_t relaxing_work = 2'000'000;
  const std::atomic<bool>* stop = nullptr;
  const Clock* clock = nullptr;  // of `seconds`; none: the machine's
  // Called when there is a better plan, with the least bound of what has not been looked at; 0: not known.
  std::function<void(double step_us, double lower_bound_us)> progress = {};
};

// Where a step's time goes on the device class that works longest.
struct Breakdown {
  double compute_us = 0;
  double communication_us = 0;   // collectives that nothing hides
  double pipeline_us = 0;        // waiting for other stages
  std::string largest;           // of the traffic: `reduce_scatter over 64 devices, 3.7 GiB`
  std::vector<Traffic> traffic;  // what keeps the links busy longest first
};

Breakdown breakdown(const Simulation&);

struct Candidate {
  Configuration configuration;
  std::string script;
  double step_us = 0;
  double bound_us = 0;                   // of its point of the space, whatever the cut
  std::vector<std::int64_t> peak_bytes;  // by device class
  Breakdown breakdown;
};

enum class Outcome : std::uint8_t { found, impossible, unknown };

struct Found {
  Outcome outcome = Outcome::unknown;
  std::vector<Candidate> best;             // by step time; the first is the answer, the others the best of other shapes
  double lower_bound_us = 0;               // 0: not known
  std::int64_t points = 0, simulated = 0;  // of the space; made and simulated
  bool ended_early = false;                // by the limit
  std::int64_t least_bytes = 0;            // impossible for want of memory: what the smallest device would have to have
  std::string reason;                      // impossible, unknown
  std::vector<constraint::ConflictLines> conflicts;  // impossible because of rows: minimal sets of them
  bool all_conflicts = false;                        // there are no others
};

Result<Found> search(const Graph&, const Cluster&, const Settings&);

}  // namespace planscope::stages
