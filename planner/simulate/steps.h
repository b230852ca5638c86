#pragma once
// The instructions of every segment, made ready to be played: durations, allocations, what they wait for. Computed once
// per segment, whatever number of micro-batches and device classes run it.
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/cost/communication_cost.h"
#include "planner/simulate/groups.h"
#include "planner/simulate/simulate.h"
#include "planner/simulate/work_runs.h"

namespace planscope {

struct MemoryChange {
  MemoryKind kind = MemoryKind::activations;
  std::int64_t bytes = 0;
  Owner of;
};

// Which instance of a value a slot means: sum over its terms of index[position] * factor. An axis that the value is
// indexed by and the segment is not counts as its last index: all have to be there.
struct InstanceTerm {
  int position = 0;  // in Segment::free_axes
  std::int64_t factor = 1;
};
struct Instance {
  int handle =
      -1;  // values that are waited for or accumulated, transfers, and what is copied to the host, are numbered
  std::vector<InstanceTerm> terms;
  std::int64_t constant = 0;
};

enum class StepKind : std::uint8_t {
  compute,
  issue,
  send,
  wait_collective,
  wait_receive,
  accumulate,
  offload,
  restore,
  wait_restore
};

// One of several runs for one value (of a piece over more free axes than the value has).
struct Runs {
  Instance instance;
  std::int64_t runs = 1;
};

// Memory that ends with the last of several runs.
struct Release : Runs {
  MemoryChange change;
};

struct Step {
  StepKind kind = StepKind::compute;
  int instruction = 0;
  bool last = false, but_last = false;    // only in the last run of its segment in a step; only in the others
  std::optional<Runs> offload_with;       // a copy to host memory of what several runs save: only in the last of these
  std::optional<Runs> restore_after;      // a copy from host memory: only in the first run after that
  Nanoseconds duration = 0;
  Nanoseconds own = 0;  // without background communication: what an issue, a send or a wait takes of the compute stream
  std::array<Nanoseconds, 3> sources{};       // of `duration`
  Instance instance;                          // of a copy: none if nothing waits for it
  std::vector<MemoryChange> before, after;    // applied when it starts, when it ends
  std::vector<Release> releases;              // when it ends, counted
  std::int64_t transient = 0;                 // on top of `before`, while it runs; negative: less
  std::int64_t transient_gradients = 0;       // the same, of parameters
  bool network = false;                       // issue: over the network stream
  int level = 0;                              // issue, send: of the links that it goes over
  int values = 1;                             // that an issue makes; that a wait waits for
  int traffic = -1;                           // into Steps::traffic
  std::int64_t host = 0;                      // offload, restore: bytes that come to host memory
  const std::vector<int>* parties = nullptr;  // issue: see Parties::of; null: within each class
};

struct SegmentSteps {
  std::vector<Step> steps;
  std::vector<WorkRun> runs;  // of `steps`
};

struct Steps {
  bool background = true;                           // Cluster::background
  std::vector<SegmentSteps> segments;               // parallel to Program::segments
  std::vector<std::int64_t> instances;              // by handle
  std::vector<ProgramValueId> handle_value;         // by handle
  std::vector<Traffic> traffic;                     // kinds, count 1 each
  std::vector<std::vector<MemoryChange>> standing;  // by device class: homes and optimizer state
  std::vector<std::int64_t> host_standing;          // by device class: bytes in host memory
  // By device class: what no instruction of a step frees, so that the step's end does; empty where steps do not overlap, since
  // nothing comes behind it then.
  std::vector<std::vector<MemoryChange>> freed_with_step;
};

// More than all classes together may take in a step (36 years), and than a device may be given in it (1 EiB): below it no sum of
// the simulation can wrap.
inline constexpr std::int64_t kMostNanoseconds = std::int64_t{1} << 60;
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

// `parties` must outlive the result.
Steps make_steps(const Graph&, const Program&, const Cluster&, const SimulationOptions&, Parties& parties);

}  // namespace planscope
