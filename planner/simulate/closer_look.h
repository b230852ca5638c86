#pragma once
// A simulated step looked at more closely: single operators within a window of a long step, the memory by kind, what is
// alive at a moment, and what the step would be if some work took no time or began later. Each answer plays the step
// again with one thing more recorded or one thing otherwise; nothing is estimated.
//
//   const CloserLook look(graph, program, cluster, options);   // these must stay; the options are the simulation's
//   look.window({{from, to}})->simulation.classes[0].instructions;
//   look.alive(0, {from, to})->owners;                         // they sum to ->memory
//   look.step_if({.device_class = 0, .segment = 3, .index = 7});
//   look.slack({.device_class = 0, .segment = 3, .index = 7});
//
// Errors: those of simulate(). Several threads may ask at once. Times are nanoseconds, memory is bytes of one device.
#include <memory>
#include <optional>
#include <vector>

#include "planner/simulate/simulate.h"

namespace planscope {

struct DetailedSimulation {
  Simulation simulation;
  std::vector<std::vector<Memory>> kinds;  // by class: parallel to ClassTimeline::memory
};

struct AliveOwner {
  Owner of;
  MemoryKind kind = MemoryKind::activations;
  std::int64_t bytes = 0;                // of all its instances
  std::optional<Nanoseconds> from, to;   // none: before the step, after it
};

struct AliveMoment {
  Nanoseconds time = 0;
  int slot = -1, instruction = -1;  // that begins then; -1: none does
  Memory memory;
  std::vector<AliveOwner> owners;  // largest first
};

// Work of a device class: one run of a segment or all of them, one of its instructions or all.
struct Task {
  int device_class = 0;
  SegmentId segment = -1;
  std::int64_t index = -1;  // SlotBlock::index; -1: every run in a step
  int instruction = -1;     // of the segment; -1: the whole run
  bool operator==(const Task&) const = default;
};

class CloserLook {
 public:
  CloserLook(const Graph&, const Program&, const Cluster&, const SimulationOptions&);
  ~CloserLook();

  // The same step with single instructions recorded within the window; none: as the options say.
  Result<DetailedSimulation> window(std::optional<Window>) const;
  // At the fullest moment of the class within the window (from == to: at that time).
  Result<AliveMoment> alive(int device_class, Window) const;
  // The step if the task took no time.
  Result<Nanoseconds> step_if(const Task&) const;
  // By how much the task may begin later without a longer step.
  Result<Nanoseconds> slack(const Task&) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace planscope
