#pragma once
// Measured costs of operators: the profile store of the workspace, and how it is filled.
//
// What is measured is a process of this host with one core and one thread (the worker, engine/runtime/operator_timing.h),
// so the devices of cluster `local` and of cluster files with the same device. Measurements are kept by device and
// processor: those of one host say nothing about another one, nor about processes that share cores.
//
//   const CostModel costs = stored_costs(&workspace, cluster, diagnostics);   // what every prediction starts from
//   Profiling p = profile({materials}, spec, workspace, progress, stop, diagnostics);
//   p.measured; p.reused; p.operators[0].measured_us
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "app/workbench/materials.h"
#include "engine/cluster/link_fit.h"
#include "engine/launch/launcher.h"
#include "planner/cost/profile_items.h"

namespace planscope {

// Under which name the workspace keeps what was measured on such a device here: `process 1f0c… on Xeon …`.
std::string profiled_device(const DeviceType&);
std::string profiled_device(const Cluster&);  // of its devices: of all kinds together

// The cost model with the profiles of the cluster's devices, as far as the workspace has some.
CostModel stored_costs(const Workspace*, const Cluster&, std::vector<Diagnostic>&);

// Adds a measurement to the workspace, or replaces the one of the same operator and shapes.
Result<RowId> store(Workspace&, const std::string& device, const ProfileItem&, Microseconds measured, int repeats);

struct ProfilingSpec {
  std::string worker;  // the program `planscope-worker`
  std::uint64_t seed = 1;
};

struct ProfiledOperator {
  ProfileItem item;
  double measured_us = 0;
  bool reused = false;  // the workspace had it
  std::string problem;  // why it was not measured
};

struct Profiling {
  LaunchStatus status = LaunchStatus::done;  // interrupted: what was measured before is kept
  std::string failure;
  int measured = 0, reused = 0;
  std::vector<ProfiledOperator> operators;
};

// Measures what the workspace does not have yet; every figure is stored as soon as it is known. Errors (diagnostics and
// status `failed`): devices that are no processes of this host, or share cores; the worker's.
Profiling profile(const std::vector<Materials>&, const ProfilingSpec&, Workspace&,
                  const std::function<void(int done, int all)>& progress, const std::atomic<bool>& stop,
                  std::vector<Diagnostic>&);

// The link between two processes of this host, over the transport of trials.
struct LinkProfile {
  LinkFit fit;
  std::vector<LinkSample> samples;
};

// Measures and fits it, with two processes, and keeps it in the workspace: from then on open_cluster() takes it for `local`.
// `progress` is told how many of how many times are measured.
Result<LinkProfile> profile_links(const ProfilingSpec&, Workspace&, const std::function<void(int done, int of)>& progress,
                                  const std::atomic<bool>& stop);

// `local` with the link that the workspace has; any other cluster, and one whose processes share cores, as it is.
Cluster with_stored_link(Cluster, const Workspace&, std::vector<Diagnostic>&);

}  // namespace planscope
